package replay

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"sync"
)

// turnsRun lets further turns go when they are due. Their calls are made while
// the turn before is under way, so as many are held as there are flights.
type turnsRun struct {
	*gate
	waiter Waiter
	left   int    // turns to let go
	gone   []bool // let go, or reported

	mu    sync.Mutex
	slots map[int32]*slot
	due   dueTurns
	wake  func() // ends the wait that is on
}

type dueTurn struct {
	at    int64
	place int32
}

// sessions lets first turns go at their instants and further ones after the
// answers, side by side.
func (g *gate) sessions() {
	t := &turnsRun{gate: g, waiter: g.opts.Later, left: int(g.plan.Shape.AfterAnswer), gone: make([]bool, len(g.plan.Jobs)), slots: map[int32]*slot{}, wake: func() {}}
	if t.waiter == nil {
		t.waiter = NewWaiter()
		defer t.waiter.Close()
	}
	g.turns = t
	var both sync.WaitGroup
	both.Go(t.run)
	g.schedule()
	both.Wait()
}

// prepare makes the calls of the turns that follow a job.
func (t *turnsRun) prepare(job *Job) {
	for _, i := range t.plan.turns.after[job.place] {
		sl := newSlot(&t.plan.Jobs[i])
		t.mu.Lock()
		t.slots[i] = sl
		t.mu.Unlock()
		t.prep.wg.Go(func() { t.prep.make(sl) })
	}
}

// landed makes the turns that follow a job due.
func (t *turnsRun) landed(job *Job, end int64) {
	after := t.plan.turns.after[job.place]
	if len(after) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range after {
		heap.Push(&t.due, dueTurn{end + t.plan.turns.think[i], i})
	}
	t.wake()
}

// run lets turns go until there are none, or ctx ends.
func (t *turnsRun) run() {
	for ; t.left > 0; t.left-- {
		due, sl := t.next()
		if sl == nil {
			return
		}
		t.gone[due.place] = true
		call, err := sl.wait(t.ctx)
		if err != nil {
			t.lose(sl.job, err)
			return
		}
		job := sl.job
		if job.Sched = due.at; due.at < t.plan.warm {
			job.Phase = Warmup
		}
		t.letGo(job, call)
	}
}

// next waits for the next turn that is due; nil when ctx ends.
func (t *turnsRun) next() (dueTurn, *slot) {
	for t.ctx.Err() == nil {
		wait, wake := context.WithCancel(t.ctx)
		t.mu.Lock()
		at := int64(math.MaxInt64)
		if len(t.due) > 0 {
			at = t.due[0].at
		}
		if at <= t.timer.Now() {
			due := heap.Pop(&t.due).(dueTurn)
			sl := t.slots[due.place]
			delete(t.slots, due.place)
			t.mu.Unlock()
			wake()
			return due, sl
		}
		t.wake = wake
		t.mu.Unlock()
		if at == math.MaxInt64 {
			<-wait.Done()
		} else if err := t.waiter.Until(wait, t.timer, at); err != nil && wait.Err() == nil {
			t.stop(err) // the timer failed
		}
		wake()
	}
	return dueTurn{}, nil
}

// unsent reports the turns that never came to be.
func (t *turnsRun) unsent() {
	for i := range t.plan.Jobs {
		if t.plan.waits(i) && !t.gone[i] {
			t.drop(&t.plan.Jobs[i])
		}
	}
}

// dueTurns is a heap by instant.
type dueTurns []dueTurn

func (d dueTurns) Len() int { return len(d) }
func (d dueTurns) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(d[i].at, d[j].at), cmp.Compare(d[i].place, d[j].place)) < 0
}
func (d dueTurns) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *dueTurns) Push(v any)   { *d = append(*d, v.(dueTurn)) }
func (d *dueTurns) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}
