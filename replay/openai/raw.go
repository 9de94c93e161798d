package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/replay"
	"reprise/trace"
)

// rawEngine speaks HTTP/1.1 on its own connections. A request's goroutine writes
// it. A shard reads the answers of many connections where the system has it
// (loops); elsewhere, and over TLS, the request's goroutine does. A connection
// that waits for bytes holds no buffer.
type rawEngine struct {
	client *Client
	pool   *pool
	dial   dialFunc
	tls    *tls.Config // nil: plain HTTP
	loops  *loops
	addr   string
	post   []byte // head of a request up to the length of its body
	get    []byte // head of the request for the list of models
}

func newRawEngine(c *Client) *rawEngine {
	e := &rawEngine{client: c, dial: c.dialer(), loops: newLoops(c.stamps), addr: c.target.post.Host}
	port := "80"
	if c.target.post.Scheme == "https" {
		port = "443"
		e.tls = &tls.Config{}
		if c.cfg.TLS != nil {
			e.tls = c.cfg.TLS.Clone()
		}
		if e.tls.ServerName == "" {
			e.tls.ServerName = c.target.post.Hostname()
		}
		e.tls.NextProtos = []string{"http/1.1"}
	}
	if c.target.post.Port() == "" {
		e.addr = net.JoinHostPort(c.target.post.Hostname(), port)
	}
	e.pool = &pool{max: c.cfg.Dials, keep: c.cfg.IdleConns, clock: c.stamps, open: e.open}
	e.post = append(c.head(http.MethodPost, c.target.post.RequestURI()), "Content-Length: "...)
	e.get = append(c.head(http.MethodGet, c.target.models.RequestURI()), "\r\n"...)
	return e
}

// head renders a request's head without the empty line at its end.
func (c *Client) head(method, uri string) []byte {
	b := append([]byte(method), ' ')
	b = append(append(b, uri...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, c.host()...), "\r\n"...)
	for _, name := range sortedNames(c.header) {
		for _, v := range c.header[name] {
			b = append(append(append(append(b, name...), ": "...), strings.TrimSpace(v)...), "\r\n"...)
		}
	}
	if c.cfg.Wire.NewConns {
		b = append(b, "Connection: close\r\n"...)
	}
	return b
}

// room is what a request's data needs in front of its body.
func (e *rawEngine) room() int { return len(e.post) + 20 + len("\r\n\r\n") }

// render puts the head before the body of a query.
func (e *rawEngine) render(q *query) []byte {
	if q.get {
		return e.get
	}
	var tail [24]byte
	end := append(strconv.AppendInt(tail[:0], int64(len(q.data)-q.room), 10), "\r\n\r\n"...)
	from := q.room - len(end) - len(e.post)
	copy(q.data[from:], e.post)
	copy(q.data[q.room-len(end):], end)
	return q.data[from:]
}

func (e *rawEngine) close() {
	e.pool.close()
	e.loops.close()
}

// connect opens connections without sending anything over them.
func (e *rawEngine) connect(ctx context.Context, n int) int {
	if e.client.cfg.Wire.NewConns {
		return 0
	}
	conns := make(chan *rawConn, n)
	for range n {
		go func() {
			c, err := e.pool.get(ctx, nil, false)
			if err != nil {
				c = nil
			}
			conns <- c
		}()
	}
	// None goes back before all are there, so that each call has its own.
	var all []*rawConn
	for range n {
		if c := <-conns; c != nil {
			all = append(all, c)
		}
	}
	for _, c := range all {
		e.pool.put(c)
	}
	return len(all)
}

// rawConn is a connection of the raw engine. One request has it at a time.
type rawConn struct {
	sock   *sock // a shard reads it; nil: as below
	tap    *tap
	conn   net.Conn // the tap, or TLS over it
	secure bool
	kept   bool  // it lay in the pool: no request waited for its handshakes
	since  int64 // when it became idle
	parser parser
	armed  int64 // when the read deadline strikes
	stay   patience
	got    bool // a byte of the answer came
	pieces int  // of the body, in the last read
	lent   *[]byte
}

func (e *rawEngine) exchange(ctx context.Context, q *query, rc receiver) error {
	clock, start, p := e.client.stamps, e.client.stamps.now(), &q.seen
	c, err := e.take(ctx, q, start)
	if err != nil {
		return err
	}
	shift := e.client.shift(q.flight)
	c.begin(q.limits, start)
	p.protocol = replay.HTTP1
	p.ready, p.reused = trace.Some(clock.now()+shift), trace.Some(c.kept)
	w, untouched, err := c.talk(ctx, e.render(q), q, rc, shift, !e.client.cfg.Wire.Resend)
	p.stale = p.reused.V && !c.got && lost(err)
	if err == nil && untouched && c.parser.over && !c.parser.head.close && w.finished() && !e.client.cfg.Wire.NewConns {
		e.pool.put(c)
	} else {
		c.close()
	}
	if at, ok := w.wait(); ok {
		p.writeEnd = trace.Some(at)
	}
	if p.firstByte.OK && (!p.writeEnd.OK || p.firstByte.V < p.writeEnd.V) {
		p.writeEnd = p.firstByte // an answer that did not wait for the whole request
	}
	return err
}

// talk sends a request and has its answer read. untouched: the connection is as
// one that waits for a request.
func (c *rawConn) talk(ctx context.Context, b []byte, q *query, rc receiver, shift int64, once bool) (w *writing, untouched bool, err error) {
	clock := c.clock()
	sent := func() {
		if once && w.done == nil {
			q.data = nil // it is garbage once it is written
		}
	}
	if c.sock != nil {
		q.deep = true
		c.sock.begin(c, rc, &q.seen, shift)
		w = c.write(b, q, shift)
		sent()
		return w, true, c.sock.wait(ctx)
	}
	c.arm(clock) // before the hook, whose deadline must stay
	unhook := context.AfterFunc(ctx, func() { c.conn.SetReadDeadline(time.Unix(1, 0)) })
	w = c.write(b, q, shift)
	sent()
	err = c.read(ctx, clock, rc, &q.seen, shift)
	return w, unhook(), err
}

// lost tells that the other side ended the connection.
func lost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// take gets a connection within the request's limits.
func (e *rawEngine) take(ctx context.Context, q *query, start int64) (*rawConn, error) {
	q.seen = passage{}
	if !q.anew {
		if c := e.pool.ready(); c != nil {
			return c, nil
		}
	}
	return e.wait(ctx, q, patience{limits: q.limits, start: start})
}

// wait gets the next connection there is.
func (e *rawEngine) wait(ctx context.Context, q *query, stay patience) (*rawConn, error) {
	t := &trip{flight: q.flight}
	at, why := stay.due()
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(at-stay.start), why)
	defer cancel()
	c, err := e.pool.get(ctx, t, q.anew)
	for err == nil && c.kept && !e.pool.fresh(c) {
		c.close()
		c, err = e.pool.get(ctx, t, q.anew)
	}
	if err != nil && ctx.Err() != nil {
		err = ended(context.Cause(ctx))
	}
	q.seen = t.passage()
	return c, err
}

// begin makes the connection ready for a request.
func (c *rawConn) begin(l limits, start int64) {
	c.parser.reset()
	c.stay, c.got = patience{limits: l, start: start}, false
}

// arm sets the read deadline to the request's next limit.
func (c *rawConn) arm(clock *stamps) {
	c.armed, _ = c.stay.due()
	c.conn.SetReadDeadline(clock.base.Add(time.Duration(c.armed)))
}

// writing is the write of a request.
type writing struct {
	done chan struct{} // nil: it was over at once
	at   int64         // when it was over, run time
	ok   bool
}

func (w *writing) finished() bool {
	if w.done == nil {
		return w.ok
	}
	select {
	case <-w.done:
		return w.ok
	default:
		return false
	}
}

// wait returns when the request was written; the connection is idle or closed.
func (w *writing) wait() (int64, bool) {
	if w.done != nil {
		<-w.done
	}
	return w.at, w.ok
}

// inlineTLS is how large a request over TLS may be to be written by the
// goroutine that reads the answer: the socket takes so much at once.
const inlineTLS = 8 << 10

// write sends the request. What the kernel does not take at once is left to a
// goroutine, for a server may answer before it has read all.
func (c *rawConn) write(b []byte, q *query, shift int64) *writing {
	w := &writing{}
	note := func(err error) {
		if w.ok = err == nil; w.ok {
			w.at = c.wrote() + shift
			q.flight.Sent(w.at)
		}
	}
	var n int
	var err error
	switch {
	case !c.secure:
		if n, err = c.writeNow(b); n == len(b) || err != nil {
			note(err)
			return w
		}
	case len(b) <= inlineTLS:
		_, err = c.conn.Write(b)
		note(err)
		return w
	}
	w.done = make(chan struct{})
	go func() {
		defer close(w.done)
		note(c.writeRest(b[n:]))
	}()
	return w
}

// read hands the answer on until it ends.
func (c *rawConn) read(ctx context.Context, clock *stamps, rc receiver, p *passage, shift int64) error {
	for !c.parser.over {
		b, err := c.receive()
		if len(b) > 0 {
			stop, wrong := c.accept(b, c.tap.last.Load()+shift, clock, rc, p)
			c.giveBack()
			if stop || wrong != nil {
				return wrong
			}
			if due, _ := c.stay.due(); due < c.armed {
				c.arm(clock)
			}
		} else {
			c.giveBack()
		}
		if ctx.Err() != nil {
			return errCancelled
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			if due, why := c.stay.due(); clock.now() >= due {
				return why
			}
			c.arm(clock)
			if ctx.Err() != nil { // it set the deadline before us
				return errCancelled
			}
		case errors.Is(err, io.EOF):
			return c.parser.end()
		default:
			return err
		}
	}
	return nil
}

// accept takes what a read brought; true when nothing more is wanted.
func (c *rawConn) accept(b []byte, at int64, clock *stamps, rc receiver, p *passage) (stop bool, err error) {
	if !c.got {
		c.got, p.firstByte = true, trace.Some(at)
	}
	return c.feed(b, at, clock, rc)
}

// receive waits for bytes. Over TLS it holds a buffer while it waits.
func (c *rawConn) receive() ([]byte, error) {
	if !c.secure {
		return c.tap.borrow()
	}
	c.lent = c.tap.clock.buffers.Get().(*[]byte)
	n, err := c.conn.Read(*c.lent)
	return (*c.lent)[:n], err
}

func (c *rawConn) giveBack() {
	if c.lent != nil {
		c.tap.clock.buffers.Put(c.lent)
		c.lent = nil
	}
	c.tap.giveBack()
}

// feed parses what one read brought; true when nothing more is wanted.
func (c *rawConn) feed(b []byte, at int64, clock *stamps, rc receiver) (stop bool, err error) {
	now := clock.now()
	c.pieces = 0
	for len(b) > 0 && !c.parser.over {
		n, kind, data, err := c.parser.next(b)
		if err != nil {
			return false, err
		}
		b = b[n:]
		switch kind {
		case aHead:
			if !rc.head(c.parser.head.status, c.parser.head.fields) {
				return true, nil
			}
			c.parser.head.fields = nil // they lie in the buffer of the read
		case someBody:
			c.pieces++
			what := rc.body(data, at)
			if what == enough {
				return true, nil
			}
			c.stay.take(what, now)
		}
	}
	if len(b) > 0 {
		c.parser.head.close = true // bytes that nobody asked for
	}
	return false, nil
}

// clock is that of the client.
func (c *rawConn) clock() *stamps {
	if c.sock != nil {
		return c.sock.clock()
	}
	return c.tap.clock
}

// alive reports whether an idle connection may be used.
func (c *rawConn) alive() bool {
	if c.sock != nil {
		return c.sock.alive()
	}
	if c.secure {
		return c.tap.aliveOver(c.conn)
	}
	return c.tap.alive()
}

func (c *rawConn) close() {
	if c.sock != nil {
		c.sock.close()
		return
	}
	c.conn.Close()
}

// writeNow writes what the kernel takes at once.
func (c *rawConn) writeNow(b []byte) (int, error) {
	if c.sock != nil {
		return c.sock.write(b)
	}
	return c.tap.writeNow(b)
}

// writeRest writes all of b, and waits for that.
func (c *rawConn) writeRest(b []byte) error {
	if c.sock != nil {
		return c.sock.writeAll(b)
	}
	_, err := c.conn.Write(b)
	return err
}

// wrote is the stamp of the last write, by the clock.
func (c *rawConn) wrote() int64 {
	if c.sock != nil {
		return c.sock.sent()
	}
	return c.tap.wrote.Load()
}
