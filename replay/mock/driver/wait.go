package driver

import "time"

// Waiter blocks one goroutine until an instant or a wake-up. arm and wake are
// called under one lock, so that no wake-up is lost between arm and wait.
type Waiter interface {
	arm(d time.Duration, forever bool) // how long the next wait lasts
	wait()
	wake() // ends the wait that was armed last
	close()
	name() string
}

// timerWaiter uses the runtime's timers. They are 1 ms grained when the
// process is idle.
type timerWaiter struct {
	d       time.Duration
	forever bool
	woken   chan struct{}
}

// NewTimerWaiter returns a waiter that works everywhere, fake time included.
func NewTimerWaiter() Waiter { return &timerWaiter{woken: make(chan struct{}, 1)} }

func (w *timerWaiter) arm(d time.Duration, forever bool) { w.d, w.forever = d, forever }

func (w *timerWaiter) wait() {
	if w.forever {
		<-w.woken
		return
	}
	t := time.NewTimer(w.d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.woken:
	}
}

func (w *timerWaiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

func (w *timerWaiter) close() {}

func (w *timerWaiter) name() string { return "timer" }
