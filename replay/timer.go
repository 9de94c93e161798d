package replay

import (
	"context"
	"time"
)

// Timer is the run's clock: monotonic nanoseconds from the run's zero.
type Timer struct{ zero time.Time }

// NewTimer starts a clock whose zero is at; instants before it are negative.
func NewTimer(zero time.Time) Timer { return Timer{zero} }

// Now returns the time since the run's zero in ns.
func (t Timer) Now() int64 { return int64(time.Since(t.zero)) }

// At returns the wall-clock instant of ns.
func (t Timer) At(ns int64) time.Time { return t.zero.Add(time.Duration(ns)) }

// Waiter waits for an instant of the clock. Until returns at or after it, never
// before, or with ctx's error when ctx ends first. One goroutine uses it.
type Waiter interface {
	Until(ctx context.Context, t Timer, ns int64) error
	Name() string // for run.json
	Close() error
}

// NewWaiter returns the most precise waiter of the platform: timerfd where
// there is one, else the runtime's timer.
func NewWaiter() Waiter {
	if w := newPrecise(); w != nil {
		return w
	}
	return SleepWaiter{}
}

// SleepWaiter waits with the runtime's timer: about a millisecond late when
// the process is idle, exact in the virtual time of testing/synctest.
type SleepWaiter struct{}

// Until waits for the instant.
func (SleepWaiter) Until(ctx context.Context, t Timer, ns int64) error {
	for {
		left := ns - t.Now()
		if left <= 0 {
			return ctx.Err()
		}
		timer := time.NewTimer(time.Duration(left))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// Name returns "sleep".
func (SleepWaiter) Name() string { return "sleep" }

// Close does nothing.
func (SleepWaiter) Close() error { return nil }
