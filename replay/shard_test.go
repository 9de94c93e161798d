package replay

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"reprise/trace"
)

// Three machines make one closed loop: together as many under way as was asked
// for, never more, each row once, and no two passes with the same prompts.
func TestSharedClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots, machines = 11, 3
		tr := untimed(100)
		for i := range tr.Requests {
			tr.Requests[i].Blocks = []int32{int32(i / 2)}
		}
		var now, most atomic.Int64
		var mu sync.Mutex
		rows, prompts, planned := map[int64]bool{}, map[int32]int64{}, 0
		var all sync.WaitGroup
		for i := range machines {
			p, err := NewClosedPlan(tr, []Level{{Concurrency: slots, Last: time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Part(Shard{Index: i, Of: machines}); err != nil {
				t.Fatal(err)
			}
			planned += p.Shape.Points[0].Concurrency
			s := &fake{stamp: true, take: func(j Job) time.Duration {
				most.Store(max(most.Load(), now.Add(1)))
				mu.Lock()
				defer mu.Unlock()
				for _, b := range j.Request.Blocks {
					if other, ok := prompts[b]; ok && other/2 != j.Row/2 {
						t.Errorf("rows %d and %d share block %d", other, j.Row, b)
					}
					prompts[b] = j.Row
				}
				return time.Duration(1+j.Row%13) * 100 * time.Millisecond
			}, done: func() { now.Add(-1) }}
			all.Go(func() {
				_, err := p.Run(t.Context(), s, Options{Waiter: SleepWaiter{}}, func(r Result) error {
					mu.Lock()
					defer mu.Unlock()
					if rows[r.Row] {
						t.Errorf("row %d twice", r.Row)
					}
					rows[r.Row] = true
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if most.Load() != slots || planned != slots || len(rows) < 500 {
			t.Errorf("%d under way at most and %d planned, want %d; %d rows", most.Load(), planned, slots, len(rows))
		}
	})
}

func TestSharesAddUp(t *testing.T) {
	for slots := range 40 {
		for of := 1; of < 9; of++ {
			sum, lo, hi := 0, slots, 0
			for i := range of {
				n := Shard{Index: i, Of: of}.Share(slots)
				sum, lo, hi = sum+n, min(lo, n), max(hi, n)
			}
			if sum != slots || hi-lo > 1 {
				t.Errorf("%d slots of %d machines: %d, from %d to %d", slots, of, sum, lo, hi)
			}
		}
	}
	for name, levels := range map[string][]Level{"several levels": {{Concurrency: 4}, {Concurrency: 8}}, "2 requests under way": {{Concurrency: 2}}} {
		p, err := NewClosedPlan(untimed(10), levels)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Part(Shard{Index: 0, Of: 3}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Sessions are shared out whole, by what they follow from: by session, or where
// there is none by the request that began it. The parts have the think times of
// the whole.
func TestSharedSessions(t *testing.T) {
	tr := &trace.Trace{}
	for i := range int64(120) {
		r := trace.Request{ID: i, T: some(i * 1e6), N: 1}
		if i%5 != 0 {
			r.Parent = some(i - 1)
		}
		if i%2 == 0 {
			r.Dur = some(int64(5e5))
		}
		tr.Requests = append(tr.Requests, r)
	}
	whole, err := NewSessionPlan(tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen, waiting := map[int64]bool{}, int64(0)
	for i := range 4 {
		p, err := NewSessionPlan(tr, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Part(Shard{Index: i, Of: 4}); err != nil {
			t.Fatal(err)
		}
		waiting += p.Shape.AfterAnswer
		for k := range p.Jobs {
			row := p.Jobs[k].Row
			if seen[row] || p.Jobs[k].place != int32(k) {
				t.Fatalf("row %d twice, or at the place of another", row)
			}
			seen[row] = true
			if before := p.turns.before[k]; before < 0 != (row%5 == 0) || before >= 0 && p.Jobs[before].Row != row-1 || p.turns.think[k] != whole.turns.think[row] {
				t.Fatalf("row %d follows place %d after %d, in the whole after %d", row, before, p.turns.think[k], whole.turns.think[row])
			}
		}
	}
	if len(seen) != 120 || waiting != whole.Shape.AfterAnswer {
		t.Errorf("%d rows, %d of %d wait", len(seen), waiting, whole.Shape.AfterAnswer)
	}
}
