package openai

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"

	"reprise/replay"
	"reprise/trace"
)

// trip gathers the stamps of one request on its way out. The transport calls
// the hooks from its own goroutines, some after the request is over.
type trip struct {
	flight *replay.Flight
	shift  int64 // the client's base less the run's zero, ns
	h2c    bool  // HTTP/2 without TLS

	mu         sync.Mutex
	conn       *tap
	ready      trace.Opt[int64]
	writeEnd   trace.Opt[int64]
	firstByte  trace.Opt[int64]
	dns, tcp   span
	tls        span
	reused     trace.Opt[bool]
	whole      bool             // the transport has written all of the request
	one        bool             // by HTTP/1.1, over which it is alone
	size       int              // of the body
	soonest    trace.Opt[int64] // first write of a shared connection after the body's last read, by its clock; guarded by it
	spent      bool             // the connection was dead before: nothing was written
	tlsFailed  bool
	tlsRunning bool
}

// span is a phase of opening a connection.
type span struct {
	from int64
	took trace.Opt[int64] // µs
}

func (t *trip) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart:          func(httptrace.DNSStartInfo) { t.begin(&t.dns) },
		DNSDone:           func(httptrace.DNSDoneInfo) { t.end(&t.dns) },
		ConnectStart:      func(_, _ string) { t.begin(&t.tcp) },
		ConnectDone:       func(_, _ string, err error) { t.end(&t.tcp) },
		TLSHandshakeStart: func() { t.begin(&t.tls); t.handshake(true, nil) },
		TLSHandshakeDone:  func(_ tls.ConnectionState, err error) { t.end(&t.tls); t.handshake(false, err) },
		GotConn:           t.gotConn,
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err == nil {
				t.rendered()
			}
		},
		GotFirstResponseByte: t.gotByte,
	}
}

func (t *trip) begin(s *span) {
	now := t.flight.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.from == 0 { // of several addresses tried at once, the first
		s.from = now
	}
}

func (t *trip) end(s *span) {
	now := t.flight.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	s.took = trace.Some((now - s.from) / 1000)
}

func (t *trip) handshake(running bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tlsRunning, t.tlsFailed = running, err != nil
}

func (t *trip) gotConn(i httptrace.GotConnInfo) {
	now := t.flight.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ready, t.reused, t.conn = trace.Some(now), trace.Some(i.Reused), tapOf(i.Conn)
	t.one = !t.h2c && !secondOf(i.Conn)
	switch {
	case t.conn == nil:
	case t.one:
		t.spent = t.conn.mute.Load()
		t.conn.trip.Store(t)
	default: // its writes are those of many requests
		t.conn.many.on.Store(true)
	}
}

// secondOf tells a connection of HTTP/2 by what TLS agreed on.
func secondOf(c net.Conn) bool {
	secure, ok := c.(*tls.Conn)
	return ok && secure.ConnectionState().NegotiatedProtocol == "h2"
}

// rendered notes that the transport has written the whole request. Of HTTP/1.1
// its last bytes may still be in a buffer of the process, and the write that
// follows is its end. Of HTTP/2 each frame has been flushed by then, and the next
// write may be another request's, or come seconds later.
func (t *trip) rendered() {
	t.mu.Lock()
	t.whole = true
	first := !t.one && t.conn != nil && !t.writeEnd.OK
	if first {
		t.writeEnd = trace.Some(t.conn.many.end(t, t.conn.wrote.Load()) + t.shift)
	}
	at := t.writeEnd.V
	t.mu.Unlock()
	if first {
		t.flight.Sent(at)
	}
}

// written takes the end of a write of the socket: after rendered, the last one.
func (t *trip) written(at int64) {
	t.mu.Lock()
	last := t.whole
	first := !t.writeEnd.OK
	if last {
		t.writeEnd = trace.Some(at)
	}
	t.mu.Unlock()
	if last && first {
		t.flight.Sent(at)
	}
}

func (t *trip) gotByte() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.firstByte = trace.Some(t.lastRead())
}

// lastRead returns when the socket was last read; t.mu is held, or the hooks
// are over.
func (t *trip) lastRead() int64 {
	if t.conn == nil {
		return t.flight.Now()
	}
	return t.conn.last.Load() + t.shift
}

// unwritten reports whether part of the request is with the transport yet.
func (t *trip) unwritten() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.whole
}

// readAt is lastRead for the goroutine that reads the body.
func (t *trip) readAt() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lastRead()
}

// protocol is what was spoken, empty before there was a connection.
func (t *trip) protocol() string {
	switch {
	case !t.ready.OK:
		return ""
	case t.one:
		return replay.HTTP1
	}
	return replay.HTTP2
}

// passage returns what was seen so far.
func (t *trip) passage() passage {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.one && t.whole && !t.writeEnd.OK && t.conn != nil && !t.conn.mute.Load() {
		// Nothing was left in the buffer after rendered, or the answer was faster
		// than the goroutine that notes the last write.
		if at := t.conn.wrote.Load() + t.shift; at >= t.ready.V {
			t.writeEnd = trace.Some(at)
		}
	}
	if t.firstByte.OK && (!t.writeEnd.OK || t.firstByte.V < t.writeEnd.V) {
		// The answer did not wait for the whole request, or was read before the
		// writing goroutine woke to note its time: the kernel had it by then.
		t.writeEnd = t.firstByte
	}
	return passage{protocol: t.protocol(), ready: t.ready, writeEnd: t.writeEnd, firstByte: t.firstByte, reused: t.reused,
		dns: t.dns.took, tcp: t.tcp.took, tls: t.tls.took, tlsBroken: t.tlsFailed || t.tlsRunning}
}
