package wire

import (
	"net"
	"sync"
	"syscall"
	"time"
)

// Outbox writes to a connection without ever waiting for its client: what the
// kernel does not take at once waits, and a goroutine of its own writes it.
type Outbox struct {
	conn  net.Conn
	raw   syscall.RawConn         // nil where direct writes are not to be had
	try   func(uintptr) bool      // writes p through raw; made once, as a closure costs an allocation
	late  func(due time.Duration) // notes a write that is done
	spawn func(func()) bool       // starts a goroutine; false when the server ends

	mu       sync.Mutex
	p        []byte // what try writes
	n        int    // how much it could
	failed   bool
	draining bool
	wait     []byte // for the goroutine
	dues     []time.Duration
	ending   func() // once all is written; nil for none
}

// NewOutbox returns the outbox of a connection. spawn starts a goroutine, or is
// false when the server ends; late gets the instant that bytes were due at, once
// they are with the kernel. Both are called under the outbox's lock.
func NewOutbox(conn net.Conn, spawn func(func()) bool, late func(time.Duration)) *Outbox {
	o := &Outbox{conn: conn, spawn: spawn, late: late}
	if c, ok := conn.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			o.raw = raw
		}
	}
	o.try = func(fd uintptr) bool {
		n, ok := writeNow(fd, o.p)
		o.n, o.failed = n, o.failed || !ok
		return true
	}
	return o
}

// NoDue marks bytes whose lateness nobody counts.
const NoDue = time.Duration(-1)

// Write hands bytes to the kernel, or keeps a copy of what that does not take
// now. due is the instant they were due at. It reports whether the connection
// still works, as far as known.
func (o *Outbox) Write(p []byte, due time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed {
		return false
	}
	if !o.draining {
		n := o.now(p)
		if o.failed {
			return false
		}
		if p = p[n:]; len(p) == 0 {
			if due != NoDue {
				o.late(due)
			}
			return true
		}
		if !o.spawn(o.drain) {
			o.failed = true
			return false
		}
		o.draining = true
	}
	o.wait = append(o.wait, p...)
	if due != NoDue {
		o.dues = append(o.dues, due)
	}
	return true
}

// now writes what the kernel takes; mu is held.
func (o *Outbox) now(p []byte) int {
	if o.raw == nil {
		return 0
	}
	o.p, o.n = p, 0
	if o.raw.Write(o.try) != nil {
		o.failed = true
	}
	o.p = nil
	return o.n
}

// drain writes what waits, until nothing does.
func (o *Outbox) drain() {
	var p []byte
	var dues []time.Duration
	for {
		o.mu.Lock()
		for _, d := range dues {
			o.late(d)
		}
		if len(o.wait) == 0 || o.failed {
			o.draining = false
			o.wait, o.dues = nil, nil
			end := o.ending
			o.ending = nil
			o.mu.Unlock()
			if end != nil {
				end()
			}
			return
		}
		p, o.wait = o.wait, p[:0]
		dues, o.dues = o.dues, dues[:0]
		o.mu.Unlock()
		if _, err := o.conn.Write(p); err != nil {
			o.Fail()
			dues = dues[:0]
		}
	}
}

// Fail drops what waits; nothing more is written.
func (o *Outbox) Fail() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = true
}

// End calls f once all that was written is with the kernel, or lost.
func (o *Outbox) End(f func()) {
	o.mu.Lock()
	if o.draining {
		o.ending = f
		o.mu.Unlock()
		return
	}
	o.mu.Unlock()
	f()
}

// Settle waits until nothing waits.
func (o *Outbox) Settle() {
	done := make(chan struct{})
	o.End(func() { close(done) })
	<-done
}

// Waiting tells whether bytes wait for the client to read.
func (o *Outbox) Waiting() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.draining
}
