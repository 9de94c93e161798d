package openai

import (
	"errors"
	"net"
	"sync/atomic"
	"syscall"
)

// tap is a socket that notes when bytes came and went. Both engines have one
// under each connection, under TLS too: there the stamp is of the segment that
// completed a record.
//
// A read takes one stamp, before anything is parsed. A write is stamped just
// before the system call that took all of it, so that the time of the call is
// the server's and a TTFT is never flattered; where the kernel took it in
// parts, when it had the last one.
//
// A server may answer before it has read a request, and close: then a write
// fails with the answer there to be read. net/http would drop the connection,
// and the answer with it, so under it such a failure is kept from it: what the
// reads bring decides, an answer or the end. They do not wait: of a connection
// that was reset there is nothing more to come.
type tap struct {
	net.Conn
	clock *stamps
	raw   syscall.RawConn // nil: plain reads and writes, user stamps
	last  atomic.Int64    // stamp of the last read
	wrote atomic.Int64    // stamp of the last write
	trip  atomic.Pointer[trip]
	mute  atomic.Bool // a write failed, and nobody was told
	many  sharing     // it carries many requests at a time (HTTP/2)
	in    intake
	out   outlet
}

// outlet is the write under way.
type outlet struct {
	p     []byte
	n     int
	at    int64
	wait  bool // until all is written
	parts bool
	err   error
	try   func(uintptr) bool
}

func newTap(conn net.Conn, clock *stamps) *tap {
	c := &tap{Conn: conn, clock: clock}
	c.open()
	return c
}

// floor is what no read of the connection can be before: the read before it, and
// the request that it answers. Of many requests the last write says nothing.
func (c *tap) floor() int64 {
	if c.many.on.Load() {
		return c.last.Load()
	}
	return max(c.last.Load(), c.wrote.Load())
}

// plainRead is Read where the system offers no better.
func (c *tap) plainRead(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.last.Store(c.clock.read(0, 0))
	}
	return n, err
}

// Write writes all of p.
func (c *tap) Write(p []byte) (int, error) {
	if c.mute.Load() {
		if t := c.trip.Load(); t != nil && t.spent {
			return 0, syscall.EPIPE // the request of another
		}
		return len(p), nil
	}
	n, err := c.writeAll(p)
	if err != nil && c.bears(err) {
		c.mute.Store(true)
		return len(p), nil
	}
	return n, err
}

// bears tells whether reads decide on a write that failed: where the server has
// reset the connection under a request of HTTP/1.1.
func (c *tap) bears(err error) bool {
	t := c.trip.Load()
	return t != nil && t.one && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET))
}

// plainWrite is writeAll where the system offers no better.
func (c *tap) plainWrite(p []byte) (int, error) {
	at := c.clock.now()
	n, err := c.Conn.Write(p)
	c.sent(at, err)
	return n, err
}

// sent notes a write. The transport of the net engine learns of it at once.
func (c *tap) sent(at int64, err error) {
	if err != nil {
		return
	}
	c.wrote.Store(at)
	c.many.sent(at)
	if t := c.trip.Load(); t != nil {
		t.written(at + t.shift)
	}
}

// hold is borrow where nothing tells when bytes are there.
func (c *tap) hold() ([]byte, error) {
	c.in.lent = c.clock.buffers.Get().(*[]byte)
	n, err := c.plainRead(*c.in.lent)
	return (*c.in.lent)[:n], err
}

// giveBack returns what was borrowed.
func (c *tap) giveBack() {
	if c.in.lent != nil {
		c.clock.buffers.Put(c.in.lent)
		c.in.lent = nil
	}
}
