package mock

import (
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/wire"
)

// Sizes of a connection's input buffer: at rest, and for a large body.
const (
	smallInput = 4 << 10
	largeInput = 64 << 10
	maxDiscard = 256 << 10 // bytes of a body that nobody wants, before the connection is given up
)

// wireConn is a connection. Its goroutine reads requests, one after the other,
// and stays in a read while an answer streams, to see the client leave.
type wireConn struct {
	w      *wireFront
	h      *Handler
	conn   net.Conn
	in     *wire.StampReader
	out    *wire.Outbox
	number int64
	nth    int // requests served

	buf     []byte
	r, n    int           // buf[r:n] is unread
	arrived time.Duration // of the first of these bytes
	at      time.Time     // the same by the wall clock
	kernel  bool          // by the kernel's stamp
	timed   bool          // a read deadline is set
	early   bool          // the next request came before its time
	free    time.Duration // what came before this instant could not be read at once

	head wire.Head
	body wire.Body
}

func newWireConn(w *wireFront, conn net.Conn) *wireConn {
	return &wireConn{w: w, h: w.h, conn: conn, in: wire.NewStampReader(conn), out: wire.NewOutbox(conn, w.spawn, w.sent),
		number: w.number.Add(1), buf: make([]byte, smallInput)}
}

func (c *wireConn) serve() {
	defer c.w.forget(c)
	for c.one() {
		c.nth++
	}
}

// one serves one request; false when it was the connection's last.
func (c *wireConn) one() bool {
	if !c.readHead() {
		return false
	}
	q := c.query()
	e, no := c.h.route(&q)
	keep := !c.head.Close
	var data []byte
	if c.head.HasBody() || c.head.Expect {
		limit := c.h.cfg.MaxBody
		if no != nil || !e.readBody {
			limit = min(limit, maxDiscard)
			if c.head.Expect { // the client may or may not send what it was not told to
				return c.last(orElse(no, e, c.h))
			}
		}
		var got bool
		if data, got = c.readBody(limit); !got {
			return false
		}
	}
	if c.h.faults.list != nil {
		q.verdict = c.h.faults.judge(q.path, q.arrived)
		keep = keep && !q.verdict.goaway
		if over, on := c.obstruct(&q, e, data, keep); over {
			return on
		}
	}
	switch {
	case no != nil:
		return c.send(no, keep)
	case e.whole != nil:
		return c.send(e.whole(c.h, data), keep)
	}
	return c.generate(&q, e.chat, data, keep)
}

// orElse is the answer to a request whose body is not wanted.
func orElse(no *answer, e endpoint, h *Handler) *answer {
	if no != nil {
		return no
	}
	return e.whole(h, nil)
}

// query is what the head says.
func (c *wireConn) query() query {
	q := query{method: c.head.Method, path: c.head.Path, auth: c.head.Auth, gzip: c.head.Gzip, arrived: c.arrived}
	early := c.early || c.nth > 0 && c.arrived < c.free
	q.contact = contact{conn: c.number, nth: c.nth, head: c.head.Size, names: c.head.Names, at: c.at, kernel: c.kernel, proto: c.head.Proto(), early: early}
	now := c.h.driver.Now()
	if early { // it waited for its turn, and is due from now
		q.arrived = now
	}
	c.early, c.free = false, now
	return q
}

// generate hands a call to the engine and watches the connection until the
// answer has ended.
func (c *wireConn) generate(q *query, chat bool, data []byte, keep bool) bool {
	j, no := c.h.prepare(q, chat, data)
	if cap(c.body.Bytes) > smallInput {
		c.body.Bytes = nil
	}
	if no != nil {
		return c.send(no, keep)
	}
	if script := newScript(&c.h.cfg, j, q); script != nil {
		return c.scripted(j, script, keep)
	}
	s := &wireStream{c: c, h: c.h, job: j, keep: keep, plain: c.head.Minor == 0, done: make(chan struct{})}
	if !c.h.driver.Offer(j.arrived, j.req, s) {
		return c.send(c.h.refuse(j, driver.Admission{Err: driver.ErrClosed}), keep)
	}
	return c.watch(s)
}

// watch reads while an answer is under way: nothing comes from a client that
// waits, and the end of the stream from one that leaves.
func (c *wireConn) watch(s *wireStream) bool {
	if c.r == c.n {
		alive := c.fill() == nil
		select {
		case <-s.done:
			return s.keep && alive
		default:
		}
		if !alive {
			c.h.driver.Post(s.leave)
			return false
		}
	}
	c.early = true // a request that did not wait: it is not read before its turn
	select {
	case <-s.done:
		return s.keep
	case <-c.w.closing:
		return false
	}
}

// readHead reads until a head is complete, and refuses a wrong one.
func (c *wireConn) readHead() bool {
	c.out.Settle()
	for {
		if c.r < c.n {
			k, wrong := wire.ParseHead(c.buf[c.r:c.n], &c.head, c.h.rec != nil)
			if wrong != nil {
				return c.refuse(wrong)
			}
			if k > 0 {
				c.r += k
				c.untimed()
				return true
			}
			c.within(c.w.head)
		}
		if err := c.fill(); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return c.refuse(&wire.Error{Status: http.StatusRequestTimeout, Reason: "the headers took too long"})
			}
			return false
		}
	}
}

// readBody reads the whole body, up to a limit; false when the connection has
// ended, with or without an answer.
func (c *wireConn) readBody(limit int64) ([]byte, bool) {
	c.body.Begin(&c.head, limit, c.body.Bytes)
	if c.head.Length > smallInput || c.head.Chunked {
		c.grow(largeInput)
	}
	defer c.shrink()
	for {
		k, done, wrong := c.body.Take(c.buf[c.r:c.n])
		c.r += k
		switch {
		case wrong != nil:
			return nil, c.refuse(wrong)
		case c.body.Over:
			return nil, c.last(c.h.tooLarge())
		case done:
			c.untimed()
			return c.body.Bytes, true
		}
		if c.head.Expect {
			c.head.Expect = false
			if c.r == c.n {
				c.out.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"), wire.NoDue)
			}
		}
		c.untimed()
		c.within(c.w.body)
		if err := c.fill(); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, c.refuse(&wire.Error{Status: http.StatusRequestTimeout, Reason: "the body took too long"})
			}
			return nil, false
		}
	}
}
