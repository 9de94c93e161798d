package driver

import (
	"errors"
	"sync"
	"time"

	"reprise/replay/mock/engine"
)

// ErrClosed is the answer of a driver that has stopped.
var ErrClosed = errors.New("the server is shutting down")

// Machine is what a Driver drives: an Engine, or several behind one endpoint.
type Machine interface {
	Submit(now time.Duration, r engine.Request) (engine.ID, error)
	Step(now time.Duration, dst []engine.Event) ([]engine.Event, time.Duration, bool)
	Cancel(now time.Duration, id engine.ID) bool
	Rate(now time.Duration) engine.Rate
	Stats() engine.Stats
}

// Driver holds an engine to the wall clock. Its goroutine is the only one that
// touches the engine; others hand it functions to run.
type Driver struct {
	zero    time.Time
	engine  Machine
	waiter  Waiter
	streams map[engine.ID]Sink // of the engine's goroutine
	late    Delays             // hand-over against the law

	mu       sync.Mutex
	inbox    []func()
	sleeping bool
	closing  bool

	stopped chan struct{}
}

// Sink takes what the engine has for a request: its answer, then tokens. It
// must not block, as it runs on the engine's goroutine.
type Sink interface {
	Admitted(Admission)
	Put(engine.Event)
}

// New starts the goroutine of an engine whose zero is now. Close ends it.
func New(e Machine, w Waiter) *Driver {
	d := &Driver{zero: time.Now(), engine: e, waiter: w, streams: map[engine.ID]Sink{}, stopped: make(chan struct{})}
	go d.run()
	return d
}

// Zero is the engine's zero by the wall clock.
func (d *Driver) Zero() time.Time { return d.zero }

// Waits says how instants are held: timerfd or timer.
func (d *Driver) Waits() string { return d.waiter.name() }

// Late is how late tokens were handed over, against the law.
func (d *Driver) Late() Lateness { return d.late.Lateness() }

// ResetLate begins a new count.
func (d *Driver) ResetLate() { d.late.Reset() }

// Stopped is closed when the driver has stopped.
func (d *Driver) Stopped() <-chan struct{} { return d.stopped }

// Now is the time since the engine's zero.
func (d *Driver) Now() time.Duration { return time.Since(d.zero) }

// Post hands f to the engine's goroutine; false once the driver is closing.
func (d *Driver) Post(f func()) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return false
	}
	d.inbox = append(d.inbox, f)
	d.rouse()
	return true
}

// rouse wakes the engine's goroutine if it sleeps; mu is held.
func (d *Driver) rouse() {
	if d.sleeping {
		d.sleeping = false
		d.waiter.wake()
	}
}

// Close stops the goroutine and waits for it. It may be called again.
func (d *Driver) Close() {
	d.mu.Lock()
	d.closing = true
	d.rouse()
	d.mu.Unlock()
	<-d.stopped
}

func (d *Driver) run() {
	defer close(d.stopped)
	defer d.waiter.close()
	var todo []func()
	var events []engine.Event
	for {
		var open bool
		if todo, open = d.collect(todo[:0]); !open {
			return
		}
		for i, f := range todo {
			f()
			todo[i] = nil
		}
		next, busy := time.Duration(0), false
		events, next, busy = d.engine.Step(d.Now(), events[:0])
		d.hand(events)
		if !busy || next > d.Now() {
			d.sleep(next, !busy)
		}
	}
}

// collect takes what has been posted; false when it is time to stop.
func (d *Driver) collect(todo []func()) ([]func(), bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	todo, d.inbox = append(todo, d.inbox...), d.inbox[:0]
	return todo, !d.closing
}

// hand gives tokens to their streams.
func (d *Driver) hand(events []engine.Event) {
	for _, ev := range events {
		d.late.Add(d.Now() - ev.At)
		if s := d.streams[ev.ID]; s != nil {
			s.Put(ev)
		}
		if ev.Finish != engine.Going {
			delete(d.streams, ev.ID)
		}
	}
}

// sleep waits until the time, or until something is posted.
func (d *Driver) sleep(until time.Duration, forever bool) {
	d.mu.Lock()
	if len(d.inbox) > 0 || d.closing {
		d.mu.Unlock()
		return
	}
	d.waiter.arm(until-d.Now(), forever)
	d.sleeping = true
	d.mu.Unlock()
	d.waiter.wait()
	d.mu.Lock()
	d.sleeping = false
	d.mu.Unlock()
}

// Admission is the engine's answer to a submission.
type Admission struct {
	ID   engine.ID
	Rate engine.Rate
	Err  error
}

// Offer brings in a request that arrived at a time; the engine's answer and the
// tokens go into s. It is false, and s is not called, once the driver is closing.
func (d *Driver) Offer(arrived time.Duration, r engine.Request, s Sink) bool {
	return d.Post(func() {
		id, err := d.engine.Submit(arrived, r)
		if err == nil {
			d.streams[id] = s
		}
		s.Admitted(Admission{ID: id, Rate: d.engine.Rate(arrived), Err: err})
	})
}

// Submit offers a request and waits for the answer.
func (d *Driver) Submit(arrived time.Duration, r engine.Request, m *Mailbox) Admission {
	if !d.Offer(arrived, r, m) {
		return Admission{Err: ErrClosed}
	}
	select {
	case a := <-m.Answer:
		return a
	case <-d.stopped:
		return Admission{Err: ErrClosed}
	}
}

// Cancel drops a request that nobody waits for any more.
func (d *Driver) Cancel(id engine.ID) { d.Post(func() { d.Drop(id) }) }

// Drop is cancel on the engine's goroutine.
func (d *Driver) Drop(id engine.ID) {
	d.engine.Cancel(d.Now(), id)
	delete(d.streams, id)
}

// Snapshot returns the engine's statistics.
func (d *Driver) Snapshot() (engine.Stats, error) {
	reply := make(chan engine.Stats, 1)
	if !d.Post(func() { reply <- d.engine.Stats() }) {
		return engine.Stats{}, ErrClosed
	}
	select {
	case s := <-reply:
		return s, nil
	case <-d.stopped:
		return engine.Stats{}, ErrClosed
	}
}
