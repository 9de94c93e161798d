package replay

import (
	"context"
	"fmt"
)

// gate lets the jobs of a run go: at their instants, as slots get free, or a
// think time after an answer, as the plan has it.
type gate struct {
	*drive
	ctx   context.Context // ends the letting go
	fly   context.Context // ends the flights
	stop  context.CancelCauseFunc
	prep  *preparer
	turns *turnsRun
}

// dispatch returns when all jobs were let go, or ctx has ended.
func (g *gate) dispatch() {
	switch {
	case len(g.plan.levels) > 0:
		g.levels()
	case g.plan.turns != nil:
		g.sessions()
	default:
		g.schedule()
	}
}

// schedule lets every job go at its instant.
func (g *gate) schedule() {
	for {
		sl := g.prep.next(g.ctx)
		if sl == nil {
			return
		}
		call, err := sl.wait(g.ctx)
		if err == nil {
			err = g.opts.Waiter.Until(g.ctx, g.timer, sl.job.Sched)
		}
		if err != nil {
			g.lose(sl.job, err)
			return
		}
		g.letGo(sl.job, call)
		g.prep.release(sl.job)
	}
}

// letGo starts a job's flight.
func (g *gate) letGo(job *Job, call Call) {
	if g.turns != nil {
		g.turns.prepare(job)
	}
	f := g.takeOff(job)
	g.flights.Go(func() { g.flight(job, call, f) })
}

// takeOff is the instant at which a job is let go.
func (g *gate) takeOff(job *Job) *Flight {
	g.meter.flying.Add(1)
	return &Flight{Timer: g.timer, Dispatch: g.timer.Now(), job: job, meter: g.meter, hits: g.hits}
}

// flight sends a call, hands on what became of it, and returns the instant of
// its end.
func (g *gate) flight(job *Job, call Call, f *Flight) int64 {
	r := call.Send(g.fly, f)
	end := g.timer.Now()
	g.hits.over(job)
	g.meter.flying.Add(-1)
	r.Row, r.Point, r.Repeat, r.Phase, r.Sched = job.Row, job.Point, job.Repeat, job.Phase, job.Sched
	r.Dispatch = some(f.Dispatch)
	if g.turns != nil {
		g.turns.landed(job, end)
	}
	g.results <- r
	return end
}

// lose reports a job that was taken and cannot be let go; unless that is since
// the run ends, err ends it.
func (g *gate) lose(job *Job, err error) {
	if g.ctx.Err() == nil {
		g.stop(fmt.Errorf("row %d: %w", job.Row, err))
	}
	g.drop(job)
}

// drop reports a job as unsent.
func (g *gate) drop(job *Job) {
	g.hits.over(job)
	g.results <- Result{Row: job.Row, Point: job.Point, Repeat: job.Repeat, Phase: job.Phase,
		Sched: job.Sched, Class: Unsent, InAsked: job.Request.Input, OutAsked: job.Request.Output}
}

// unsent reports the jobs that the end of the run left. The flights have ended.
func (g *gate) unsent() {
	if g.turns != nil {
		g.turns.unsent()
	}
	if g.plan.timed() {
		return
	}
	left, now := g.prep.taken.Load(), g.timer.Now()
	for job := range g.plan.source() {
		if left--; left >= 0 {
			continue
		}
		if len(g.plan.levels) > 0 { // no schedule says when
			job.Sched = now
		}
		g.drop(job)
	}
}
