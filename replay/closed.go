package replay

import (
	"sync"
	"sync/atomic"
)

// levels runs the levels of a closed loop, one after the other.
func (g *gate) levels() {
	for i, l := range g.plan.levels {
		if l.Last > 0 && g.opts.Level != nil && !g.opts.Level(i) {
			return
		}
		lv := &level{Level: l, gate: g, point: int32(i), start: g.timer.Now()}
		lv.left.Store(int64(g.plan.rows))
		if !lv.run() {
			return
		}
	}
}

// level is a level of a closed loop that runs.
type level struct {
	Level
	*gate
	point int32
	start int64
	left  atomic.Int64 // of a level that counts requests
}

// run returns when the last answer of the level is there, or, with false, when
// ctx has ended. Flights may then go on.
func (l *level) run() bool {
	var slots sync.WaitGroup
	for i := range l.Concurrency {
		at := l.start + int64(l.Stagger)*int64(i)/int64(l.Concurrency)
		if l.opts.Waiter.Until(l.ctx, l.timer, at) != nil {
			return false
		}
		slots.Add(1)
		l.flights.Go(func() {
			defer slots.Done()
			l.slot(at)
		})
	}
	landed := make(chan struct{})
	go func() {
		slots.Wait()
		close(landed)
	}()
	select {
	case <-landed:
		return l.ctx.Err() == nil
	case <-l.ctx.Done():
		return false
	}
}

// slot sends one request after the other. Each is due when the slot is free.
func (l *level) slot(due int64) {
	for l.more(due) {
		sl := l.prep.next(l.ctx)
		if sl == nil {
			return
		}
		own := *sl.job // the one of the slot may still be read by who makes the call
		job := &own
		if job.Sched = due; l.Last > 0 {
			job.Point = l.point
		}
		if due < l.start+int64(l.Warmup) {
			job.Phase = Warmup
		}
		call, err := sl.wait(l.ctx)
		if err != nil {
			l.lose(job, err)
			return
		}
		f := l.takeOff(job)
		l.prep.release(job)
		due = l.flight(job, call, f)
	}
}

// more tells whether the level has a request for a slot that is free.
func (l *level) more(now int64) bool {
	if l.Last > 0 {
		return now < l.start+int64(l.Last)
	}
	return l.left.Add(-1) >= 0
}
