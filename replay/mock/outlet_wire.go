package mock

import (
	"errors"
	"net/http"
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/wire"
)

// wireOutlet is a connection of our own server.
type wireOutlet struct {
	c    *wireConn
	keep bool // the connection goes on behind the answer
	bare bool // HTTP/1.0: no chunks
}

var errLeft = errors.New("the client has gone away")

func (o *wireOutlet) send(p []byte) error {
	if !o.c.out.Write(p, wire.NoDue) {
		return errLeft
	}
	return nil
}

func (o *wireOutlet) answer(a *answer) { _ = o.send(o.c.render(a, o.keep)) }

func (o *wireOutlet) open(header []field) error {
	head := appendHead(nil, http.StatusOK, header, o.keep)
	if !o.bare {
		head = append(head, "Transfer-Encoding: chunked\r\n"...)
	}
	return o.send(append(head, "\r\n"...))
}

func (o *wireOutlet) write(p []byte) error {
	if o.bare {
		return o.send(p)
	}
	b := append(make([]byte, 0, len(p)+16), wire.ChunkRoom...)
	return o.send(wire.Trim(wire.Frame(append(b, p...), false)))
}

func (o *wireOutlet) finish(how ending, p []byte) {
	switch how {
	case endWhole:
		if !o.bare {
			_ = o.send([]byte("0\r\n\r\n"))
		}
		return
	case endShort:
		if o.bare {
			_ = o.send(p)
		} else {
			_ = o.send(wire.ShortChunk(p))
		}
	}
	o.keep = false
	o.c.out.Settle()
	if how == endReset {
		o.c.reset()
		return
	}
	_ = o.c.conn.Close()
}

// obstruct does what a verdict wants before an answer. over: that has ended the
// request; on: the connection goes on.
func (c *wireConn) obstruct(q *query, e endpoint, data []byte, keep bool) (over, on bool) {
	v := &q.verdict
	if v.delay > 0 {
		if !c.h.pause(v.delay, c.w.closing) {
			return true, false
		}
		q.arrived = c.h.driver.Now()
	}
	if v.stop == nil {
		return false, true
	}
	if a := c.h.stop(q, e, data); a != nil {
		return true, c.send(a, keep)
	}
	switch v.stop.Kind {
	case "hang":
		c.hang(v.stop.For.D())
	case "reset_early":
		c.reset()
	case "not_http":
		c.out.Write([]byte(notHTTP), wire.NoDue)
	}
	c.out.Settle()
	return true, false
}

// hang gives no answer until the client leaves, or for a time.
func (c *wireConn) hang(d time.Duration) {
	left := make(chan struct{})
	if !c.w.spawn(func() {
		defer close(left)
		for c.fill() == nil {
			c.r = c.n
		}
	}) {
		return
	}
	c.h.pause(d, left)
	_ = c.conn.Close() // ends the reads
	<-left
}

// scripted answers a call by a script, and watches the connection until the
// answer has ended.
func (c *wireConn) scripted(j *job, script *script, keep bool) bool {
	s := &wireStream{c: c, h: c.h, job: j, keep: keep, over: true, done: make(chan struct{}), quit: make(chan struct{})}
	out := &wireOutlet{c: c, keep: keep, bare: c.head.Minor == 0}
	box := driver.NewMailbox()
	if !c.h.driver.Offer(j.arrived, j.req, box) {
		return c.send(c.h.refuse(j, driver.Admission{Err: driver.ErrClosed}), keep)
	}
	p := &player{h: c.h, job: j, script: script, box: box, out: out, quit: s.quit}
	if !c.w.spawn(func() {
		p.play()
		s.keep = out.keep
		s.finish()
	}) {
		return false
	}
	return c.watch(s)
}

// reset drops what waits and ends the connection with a reset.
func (c *wireConn) reset() {
	c.out.Fail()
	endConn(c.conn, endReset)
}
