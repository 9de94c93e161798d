package replay

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// In a closed loop never more than the concurrency is under way, and never
// less while there is work: every request goes at the very instant of an end.
func TestClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, requests = 17, 3000
		p, err := NewClosedPlan(untimed(requests), []Level{{Concurrency: n}})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		take := make([]time.Duration, requests)
		for i := range take {
			take[i] = time.Duration(1 + rng.Int64N(3e9)) // no two ends at once
		}
		var now, most atomic.Int64
		s := &fake{stamp: true, take: func(j Job) time.Duration {
			most.Store(max(most.Load(), now.Load()+1))
			if k := now.Add(1); j.Row >= n && k != n {
				t.Errorf("row %d makes %d under way", j.Row, k)
			}
			return take[j.Row]
		}, done: func() { now.Add(-1) }}
		got, observe := keep(t, requests)
		stats, err := p.Run(t.Context(), s, Options{Waiter: SleepWaiter{}}, observe)
		if err != nil || most.Load() != n || count(stats, OK) != requests || p.Mode() != ClosedLoop {
			t.Fatalf("at most %d under way, %v %v", most.Load(), stats.Outcomes, err)
		}
		sum(t, stats)
		ends := map[int64]bool{0: true}
		for _, r := range got {
			ends[r.End.V] = true
		}
		for _, r := range got {
			if !ends[r.Sched] || r.Dispatch.V != r.Sched {
				t.Fatalf("row %d was due at %d and let go at %d, which is no end of another", r.Row, r.Sched, r.Dispatch.V)
			}
		}
		if stats.Clock.Schedule != "slots" {
			t.Errorf("%+v", stats.Clock)
		}
	})
}

// Levels by time: an hour in each, exact counts, one after the other's last
// answer, rows that go on, and a warm-up in each.
func TestClosedLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		levels := []Level{{Concurrency: 1, Last: time.Hour, Warmup: time.Minute}, {Concurrency: 4, Last: time.Hour, Warmup: time.Minute}}
		p, err := NewClosedPlan(untimed(100), levels)
		if err != nil {
			t.Fatal(err)
		}
		got, observe := keep(t, 18000)
		stats, err := p.Run(t.Context(), &fake{stamp: true, take: func(Job) time.Duration { return time.Second }}, Options{Waiter: SleepWaiter{}}, observe)
		if err != nil || stats.Planned != 3600+4*3600 || sum(t, stats) != count(stats, OK) {
			t.Fatalf("%d planned, %v", stats.Planned, err)
		}
		warm := map[int32]int{}
		for _, r := range got {
			if want := int32(min(r.Sched/3600e9, 1)); r.Point != want {
				t.Fatalf("%d s is point %d", r.Sched/1e9, r.Point)
			}
			if r.Phase == Warmup {
				warm[r.Point]++
			}
		}
		if warm[0] != 60 || warm[1] != 240 {
			t.Errorf("warm-ups %v", warm)
		}
	})
}

// Levels by count send the whole trace each, with prefixes of their own, and
// an interrupt leaves an account that adds up.
func TestClosedInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewClosedPlan(untimed(50), []Level{{Concurrency: 2}, {Concurrency: 5, Stagger: 2 * time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second+time.Millisecond)
		defer cancel()
		got, observe := keep(t, 100)
		// 25 s for the first level; then 5 slots from 25, 25.4 ... 26.6 s on
		stats, err := p.Run(ctx, &fake{stamp: true, take: func(Job) time.Duration { return time.Second }}, Options{Waiter: SleepWaiter{}, Grace: time.Minute}, observe)
		if !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
		if sum(t, stats); stats.Planned != 100 || count(stats, OK) != 50+6+5+5+4+4 || count(stats, Cancelled) != 0 {
			t.Fatalf("%v", stats.Outcomes)
		}
		for i, r := range got {
			if r.Point != int32(i/50) {
				t.Fatalf("row %d is point %d", i, r.Point)
			}
		}
	})
}

// By time only what was let go is planned, also when the run is cut short.
func TestClosedTimedInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewClosedPlan(untimed(10), []Level{{Concurrency: 3, Last: time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		stats, err := p.Run(ctx, &fake{stamp: true, take: func(Job) time.Duration { return time.Second }}, Options{Waiter: SleepWaiter{}}, func(Result) error { return nil })
		if !errors.Is(err, ErrInterrupted) || stats.Planned != 33 || count(stats, Cancelled) != 3 {
			t.Fatalf("%v %v", stats.Outcomes, err)
		}
		sum(t, stats)
	})
}

func TestClosedRefused(t *testing.T) {
	for _, l := range [][]Level{nil, {{}}, {{Concurrency: -1}}, {{Concurrency: 1 << 30}}, {{Concurrency: 1, Last: time.Second, Warmup: time.Second}},
		{{Concurrency: 1, Last: time.Second}, {Concurrency: 1}}, {{Concurrency: 1, Last: -1}}} {
		if _, err := NewClosedPlan(untimed(1), l); err == nil {
			t.Errorf("%+v is taken", l)
		}
	}
}

// Failures in a row end the run; overload does not, nor failures with answers
// between them.
func TestBreakerInARow(t *testing.T) {
	for _, c := range []struct {
		class Class
		every int64 // one in so many is answered, after the first
		trips bool
	}{{HTTP5xx, 0, true}, {Connect, 0, true}, {TLSError, 0, true}, {Overload, 0, false}, {HTTP429, 0, false}, {HTTP5xx, 9, false}} {
		synctest.Test(t, func(t *testing.T) {
			s := byRow(func(row int64) Class {
				if row < 30 || c.every > 0 && row%c.every == 0 {
					return OK
				}
				return c.class
			})
			stats, err := every(100, time.Second).Run(t.Context(), s, Options{Waiter: SleepWaiter{}, Broken: 10}, func(Result) error { return nil })
			if errors.Is(err, ErrBroken) != c.trips || c.trips && (count(stats, c.class) != 10 || count(stats, Unsent) != 60) {
				t.Errorf("%v: %v %v", c.class, err, stats.Outcomes)
			}
			sum(t, stats)
		})
	}
}

type byRow func(row int64) Class

func (c byRow) Prepare(j Job) (Call, error) { return fakeCall{&fake{class: c(j.Row)}, j}, nil }
