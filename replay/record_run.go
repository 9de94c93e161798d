package replay

import (
	"context"
	"errors"
	"sync/atomic"
)

// Record runs a plan and keeps it: it makes the results directory at path,
// stores every result and health row as it comes, and finishes the directory
// however the run ends. run says what the caller knows (inputs, endpoint,
// flags, cache, notes, StartedAt); Record fills in the rest and returns it.
// observe, if not nil, sees each result too, one at a time.
//
// One of several machines goes on following the server's metrics when its own
// requests are answered: as long as the last planned instant of all lies behind
// its own, o.Until. The end of ctx ends that and is no error.
//
// An error of the run (ErrInterrupted, ErrHopeless …) comes back after the
// directory is whole, its status aborted and the reason in it.
func Record(ctx context.Context, path string, run Run, p *Plan, s Sender, o Options, observe func(Result)) (*Run, error) {
	run.Mode, run.Shape, run.Environment = p.Mode(), p.shape(), ThisEnvironment()
	run.Planned, run.PlannedS = max(p.Planned(), 0), p.Length().Seconds()
	if o.Waiter == nil {
		o.Waiter = NewWaiter()
		defer o.Waiter.Close()
	}
	// All that a killed run leaves behind to tell what it was.
	run.Clock = p.clock(o.Waiter, stamper(s))
	run.Verdict = ClientVerdict{Verdict: NoVerdict, Reason: "the run has not ended"}
	w, err := CreateDir(path, &run)
	if err != nil {
		return nil, err
	}
	w.Count = o.Count
	var lost atomic.Bool // a health row that could not be kept; results tell by themselves
	watch := o.Health
	o.Health = func(h HealthRow) {
		if w.Health(h) != nil {
			lost.Store(true)
		}
		if watch != nil {
			watch(h)
		}
	}
	o.account = func(a account) {
		if w.account(a) != nil {
			lost.Store(true)
		}
	}
	o.Alone = run.Path.shared()
	drain := o.Drain
	o.Drain = func(n int64) {
		if ctx.Err() != nil {
			w.mark(ErrInterrupted.Error())
		}
		if drain != nil {
			drain(n)
		}
	}
	var spoken []Spoken
	server := watchServer(ctx, o.Server, &o, w.Server)
	stats, failed := p.Run(ctx, s, o, func(r Result) error {
		if observe != nil {
			observe(r)
		}
		spoken = speak(spoken, r.Protocol, 1)
		if err := w.Result(r); err != nil {
			return err
		}
		return w.full()
	})
	if failed == nil {
		if run.ServerCut = server.follow(ctx, &o, p.Length()); run.ServerCut != nil {
			run.Notes = append(run.Notes, run.ServerCut.note())
		}
	}
	if err := server.end(); err != nil {
		run.Notes = append(run.Notes, err.Error())
	}
	if t, ok := s.(Teller); ok {
		run.Endpoint.Told = t.Told()
	}
	if t, ok := s.(interface{ Stated() ([]Stated, []string) }); ok {
		run.Endpoint.Stated, run.Endpoint.OtherTimes = t.Stated()
	}
	run.Endpoint.Spoken = spoken
	run.Planned = stats.Planned
	run.Status, run.WallS, run.Outcomes, run.Clock, run.Verdict = Complete, stats.WallS, stats.Outcomes, stats.Clock, stats.Verdict
	run.Cache.take(stats.Sent)
	if r, ok := s.(interface{ Resent() int64 }); ok {
		run.Resent = r.Resent()
	}
	if failed != nil {
		run.Status, run.AbortReason = Aborted, failed.Error()
	}
	if lost.Load() && failed == nil {
		failed = errors.New("health rows could not be kept")
	}
	return &run, joined(failed, w.Finish(&run))
}

// joined is errors.Join, of errors that may be one and the same.
func joined(failed, end error) error {
	switch {
	case end == nil || errors.Is(failed, end):
		return failed
	case errors.Is(end, ErrNoRoom):
		return end // it says what failed is of, and where
	}
	return errors.Join(failed, end)
}
