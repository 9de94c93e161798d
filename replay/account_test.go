package replay

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// tardy is a waiter that is always late.
type tardy struct {
	SleepWaiter
	by int64
}

func (w tardy) Until(ctx context.Context, t Timer, ns int64) error {
	return w.SleepWaiter.Until(ctx, t, ns+w.by)
}

// killedAt records a run and returns what a kill after so many results leaves: of
// what happens at one virtual instant either may come first, so the last two
// seconds may be lost.
func killedAt(t *testing.T, p *Plan, after int, s Sender, o Options) *Run {
	t.Helper()
	root := t.TempDir()
	live, left := filepath.Join(root, "live"), filepath.Join(root, "left")
	n := 0
	o.Waiter = SleepWaiter{}
	_, err := Record(t.Context(), live, Run{StartedAt: "2026-01-02T03:04:05Z", Cache: CacheMode{Mode: CacheWorkload, ExpectedHitRate: 0.9}}, p, s, o, func(Result) {
		if n++; n == after {
			if err := os.CopyFS(left, os.DirFS(live)); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(left)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Run.Status == Complete || d.Rows == 0 || d.Rows >= int64(after) {
		t.Fatalf("%s with %d rows", d.Run.Status, d.Rows)
	}
	return d.Run
}

// A run that was killed is judged by the kernel's delay and the heartbeat that
// it had kept, as one that ended is, and not by its punctual sending alone; it
// expects the hits of what it had sent.
func TestKilledRunIsJudgedByAllThatWasKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, err := NewPlan(sharing(20, true))
		if err != nil {
			t.Fatal(err)
		}
		r := killedAt(t, p, 10, &fake{stamp: true}, Options{Beat: tardy{by: 3e6}})
		if v := r.Verdict; v.Verdict != Usable || v.LagP99MS != 0 || v.HeartP99MS == nil || *v.HeartP99MS < 3 || v.HeartMaxMS == nil {
			t.Errorf("late heartbeat: %+v", v)
		}
		if s := r.Cache.Sent; len(s) != 1 || s[0].Prompt < 60 || s[0].Prompt > 100 || s[0].Hit != s[0].Prompt-10 {
			t.Errorf("%+v", r.Cache)
		}
		slow := &stamping{fake: fake{stamp: true}}
		r = killedAt(t, p, 10, slow, Options{Beat: SleepWaiter{}})
		if v := r.Verdict; v.Verdict != ClientLimited || v.KernelP99MS == nil || *v.KernelP99MS < 7 {
			t.Errorf("late reads: %+v", v)
		}
		lack := &fake{class: Connect, reason: lackPorts}
		r = killedAt(t, p, 10, lack, Options{Beat: SleepWaiter{}, Breaker: -1})
		if v := r.Verdict; v.Verdict != ClientLimited || v.Lacking < 6 || !strings.Contains(v.Reason, lackPorts) {
			t.Errorf("lacking: %+v", v)
		}
	})
}

// stamping is a sender whose every answer was read 7 ms after the kernel had it.
type stamping struct {
	fake
	delays Spans
}

type stampedCall struct {
	Call
	delays *Spans
}

func (s *stamping) Prepare(j Job) (Call, error) {
	c, err := s.fake.Prepare(j)
	return stampedCall{c, &s.delays}, err
}

func (c stampedCall) Send(ctx context.Context, f *Flight) Result {
	c.delays.Add(7e6)
	return c.Call.Send(ctx, f)
}

func (s *stamping) Stamps() string    { return "kernel" }
func (s *stamping) Delays() SpanCount { return s.delays.Count() }

// Where nothing was kept of the client but its results, that is said.
func TestKilledRunSaysWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	w, _ := fill(t, path, 100)
	w.flushAll()
	d, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(d.Run.Verdict.Reason, "by the send lag alone") {
		t.Errorf("%+v", d.Run.Verdict)
	}
	d.Close()
	w.Finish(runOf(100, Complete))
}

// Accounts read back; what is damaged is an error and no more.
func TestAccountRecord(t *testing.T) {
	var s Spans
	for _, v := range []int64{0, 5, 1e6, 1e6, 3e9, 1 << 62} {
		s.Add(v)
	}
	for _, in := range []account{{}, {worst: 3, lacking: 4, lack: lackFiles, slept: 5},
		{delays: s.Count(), beats: s.Count(), worst: 1 << 60, sent: []SentHits{{0, 1, 2}, {7, 1 << 40, 1 << 41}}}} {
		rec := appendAccount(nil, &in)
		out, err := decodeAccount(rec)
		if err != nil || !reflect.DeepEqual(in, out) {
			t.Errorf("%v: %+v is not %+v", err, out, in)
		}
		for n := range rec {
			if _, err := decodeAccount(rec[:n]); err == nil {
				t.Errorf("%d of %d bytes are no error", n, len(rec))
			}
		}
		var sum account
		sum.add(in)
		sum.add(out)
		if sum.delays.N() != 2*in.delays.N() || sum.worst != in.worst || sum.lacking != in.lacking {
			t.Errorf("%+v twice is %+v", in, sum)
		}
	}
}

func FuzzAccount(f *testing.F) {
	f.Add(appendAccount(nil, &account{worst: 3, sent: []SentHits{{0, 1, 2}}}))
	f.Fuzz(func(t *testing.T, rec []byte) {
		a, err := decodeAccount(rec)
		if err != nil {
			return
		}
		again, err := decodeAccount(appendAccount(nil, &a))
		if err != nil || !reflect.DeepEqual(a.sent, again.sent) || a.worst != again.worst || a.beats.N() != again.beats.N() {
			t.Errorf("%v: %+v, then %+v", err, a, again)
		}
		a.signs(0).Beats.Quantile(0.99)
	})
}
