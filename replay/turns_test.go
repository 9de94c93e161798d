package replay

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reprise/trace"
)

// talks makes sessions of turns that begin a second apart; in the log each
// answer took 2 s and the next turn came 3 s after it.
func talks(sessions, turns int) *trace.Trace {
	tr := &trace.Trace{}
	for s := range sessions {
		for k := range turns {
			tr.Requests = append(tr.Requests, trace.Request{T: some(int64(s)*1e6 + int64(k)*5e6), Session: some(int32(s)), Turn: some(int32(k)), Dur: some(int64(2e6)), N: 1})
		}
	}
	slices.SortStableFunc(tr.Requests, func(a, b trace.Request) int { return cmp.Compare(a.T.V, b.T.V) })
	for i := range tr.Requests {
		tr.Requests[i].ID = int64(i)
	}
	return tr
}

// Further turns go the think time after the answer, at the very instant;
// first turns at theirs; no session has two turns under way.
func TestSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := talks(400, 6)
		p, err := NewSessionPlan(tr, nil)
		if err != nil {
			t.Fatal(err)
		}
		take := func(j Job) time.Duration { return time.Duration(1+j.Row%7) * time.Second / 2 }
		got, observe := keep(t, len(p.Jobs))
		stats, err := p.Run(t.Context(), &fake{stamp: true, take: take}, Options{Waiter: SleepWaiter{}, Later: SleepWaiter{}}, observe)
		if err != nil || count(stats, OK) != 2400 || stats.Clock.Schedule != "absolute+think" || p.Mode() != Sessions {
			t.Fatalf("%v %v", stats.Outcomes, err)
		}
		sum(t, stats)
		last := map[int32]Result{}
		for i, r := range got {
			q := tr.Requests[i]
			want := q.T.V * 1000
			if q.Turn.V > 0 {
				want = last[q.Session.V].End.V + 3e9
			}
			if r.Sched != want || r.Dispatch.V != want {
				t.Fatalf("session %d turn %d was due at %d and let go at %d, want %d", q.Session.V, q.Turn.V, r.Sched, r.Dispatch.V, want)
			}
			last[q.Session.V] = r
		}
		if p.Shape.Absolute != 400 || p.Shape.AfterAnswer != 2000 || !strings.Contains(p.Notes[0], "2000 further turns go a think time after") {
			t.Errorf("%+v %q", p.Shape, p.Notes)
		}
	})
}

// An interrupt leaves turns unsent that nobody waits for any more.
func TestSessionsInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewSessionPlan(talks(3, 4), nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 6500*time.Millisecond)
		defer cancel()
		got, observe := keep(t, 12)
		// turns at 0, 1, 2 s; answers 2 s later; second turns at 5, 6, 7 s
		stats, err := p.Run(ctx, &fake{stamp: true, take: func(Job) time.Duration { return 2 * time.Second }}, Options{Waiter: SleepWaiter{}, Later: SleepWaiter{}, Grace: time.Minute}, observe)
		if !errors.Is(err, ErrInterrupted) || count(stats, OK) != 5 || count(stats, Unsent) != 7 {
			t.Fatalf("%v %v", stats.Outcomes, err)
		}
		sum(t, stats)
		for i, r := range got {
			if r.Class == Unsent && r.Dispatch.OK {
				t.Errorf("row %d was let go and is unsent", i)
			}
		}
	})
}

// What the log does not say of think times is made up for, and said; turns that
// overlap in the log do not.
func TestThinkTimes(t *testing.T) {
	at := func(sec int64, dur trace.Opt[int64], session trace.Opt[int32], parent trace.Opt[int64]) trace.Request {
		return trace.Request{T: some(sec * 1e6), Dur: dur, Session: session, Parent: parent}
	}
	one, none := some(int32(1)), trace.Opt[int64]{}
	tr := &trace.Trace{Requests: []trace.Request{
		at(0, some(int64(2e6)), one, none), at(10, none, one, none), at(20, some(int64(30e6)), one, none), at(30, none, one, none),
		at(40, none, trace.Opt[int32]{}, some(int64(3))), at(50, none, trace.Opt[int32]{}, none),
	}}
	for i := range tr.Requests {
		tr.Requests[i].ID = int64(i)
	}
	p, err := NewSessionPlan(tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	// known: 8 s and, overlapping, 0; their median is 0 by rank
	if got := p.turns.think; got[1] != 8e9 || got[2] != 0 || got[3] != 0 || got[4] != 0 || p.turns.before[4] != 3 || p.waits(5) || p.waits(0) {
		t.Errorf("think %v after %v", got, p.turns.before)
	}
	if all := strings.Join(p.Notes, "\n"); !strings.Contains(all, "1 of 4 further turns began in the log before") || !strings.Contains(all, "2 of 4 further turns follow an answer whose end") {
		t.Errorf("%s", all)
	}
	if _, err := NewSessionPlan(&trace.Trace{Requests: tr.Requests[5:]}, nil); err == nil {
		t.Error("a trace without sessions is taken")
	}
}
