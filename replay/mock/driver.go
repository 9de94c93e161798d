package mock

import (
	"errors"
	"sync"
	"time"

	"reprise/replay/mock/engine"
)

// errClosed is the answer of a driver that has stopped.
var errClosed = errors.New("the server is shutting down")

// machine is what a driver drives: an Engine, or several behind one endpoint.
type machine interface {
	Submit(now time.Duration, r engine.Request) (engine.ID, error)
	Step(now time.Duration, dst []engine.Event) ([]engine.Event, time.Duration, bool)
	Cancel(now time.Duration, id engine.ID) bool
	Rate(now time.Duration) engine.Rate
	Stats() engine.Stats
}

// driver holds an engine to the wall clock. Its goroutine is the only one that
// touches the engine; others hand it functions to run.
type driver struct {
	zero    time.Time
	engine  machine
	waiter  waiter
	streams map[engine.ID]sink // of the engine's goroutine
	late    lateness           // hand-over against the law

	mu       sync.Mutex
	inbox    []func()
	sleeping bool
	closing  bool

	stopped chan struct{}
}

// sink takes what the engine has for a request: its answer, then tokens. It
// must not block, as it runs on the engine's goroutine.
type sink interface {
	admitted(admission)
	put(engine.Event)
}

func newDriver(e machine, w waiter) *driver {
	d := &driver{zero: time.Now(), engine: e, waiter: w, streams: map[engine.ID]sink{}, stopped: make(chan struct{})}
	go d.run()
	return d
}

// now is the time since the engine's zero.
func (d *driver) now() time.Duration { return time.Since(d.zero) }

// post hands f to the engine's goroutine; false once the driver is closing.
func (d *driver) post(f func()) bool {
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
func (d *driver) rouse() {
	if d.sleeping {
		d.sleeping = false
		d.waiter.wake()
	}
}

// close stops the goroutine and waits for it. It may be called again.
func (d *driver) close() {
	d.mu.Lock()
	d.closing = true
	d.rouse()
	d.mu.Unlock()
	<-d.stopped
}

func (d *driver) run() {
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
		events, next, busy = d.engine.Step(d.now(), events[:0])
		d.hand(events)
		if !busy || next > d.now() {
			d.sleep(next, !busy)
		}
	}
}

// collect takes what has been posted; false when it is time to stop.
func (d *driver) collect(todo []func()) ([]func(), bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	todo, d.inbox = append(todo, d.inbox...), d.inbox[:0]
	return todo, !d.closing
}

// hand gives tokens to their streams.
func (d *driver) hand(events []engine.Event) {
	for _, ev := range events {
		d.late.add(d.now() - ev.At)
		if s := d.streams[ev.ID]; s != nil {
			s.put(ev)
		}
		if ev.Finish != engine.Going {
			delete(d.streams, ev.ID)
		}
	}
}

// sleep waits until the time, or until something is posted.
func (d *driver) sleep(until time.Duration, forever bool) {
	d.mu.Lock()
	if len(d.inbox) > 0 || d.closing {
		d.mu.Unlock()
		return
	}
	d.waiter.arm(until-d.now(), forever)
	d.sleeping = true
	d.mu.Unlock()
	d.waiter.wait()
	d.mu.Lock()
	d.sleeping = false
	d.mu.Unlock()
}

// admission is the engine's answer to a submission.
type admission struct {
	id   engine.ID
	rate engine.Rate
	err  error
}

// offer brings in a request that arrived at a time; the engine's answer and the
// tokens go into s. It is false, and s is not called, once the driver is closing.
func (d *driver) offer(arrived time.Duration, r engine.Request, s sink) bool {
	return d.post(func() {
		id, err := d.engine.Submit(arrived, r)
		if err == nil {
			d.streams[id] = s
		}
		s.admitted(admission{id: id, rate: d.engine.Rate(arrived), err: err})
	})
}

// submit offers a request and waits for the answer.
func (d *driver) submit(arrived time.Duration, r engine.Request, m *mailbox) admission {
	if !d.offer(arrived, r, m) {
		return admission{err: errClosed}
	}
	select {
	case a := <-m.answer:
		return a
	case <-d.stopped:
		return admission{err: errClosed}
	}
}

// cancel drops a request that nobody waits for any more.
func (d *driver) cancel(id engine.ID) { d.post(func() { d.drop(id) }) }

// drop is cancel on the engine's goroutine.
func (d *driver) drop(id engine.ID) {
	d.engine.Cancel(d.now(), id)
	delete(d.streams, id)
}

// snapshot returns the engine's statistics.
func (d *driver) snapshot() (engine.Stats, error) {
	reply := make(chan engine.Stats, 1)
	if !d.post(func() { reply <- d.engine.Stats() }) {
		return engine.Stats{}, errClosed
	}
	select {
	case s := <-reply:
		return s, nil
	case <-d.stopped:
		return engine.Stats{}, errClosed
	}
}
