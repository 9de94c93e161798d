package mock

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/wire"
)

// netOutlet is net/http's response. What the library would not do to a client
// it does on the connection itself; in HTTP/2, where no request owns that, every
// such ending is a reset of the stream.
type netOutlet struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func newNetOutlet(w http.ResponseWriter) *netOutlet {
	return &netOutlet{w: w, control: http.NewResponseController(w)}
}

func (o *netOutlet) answer(a *answer) { a.write(o.w) }

func (o *netOutlet) open(header []field) error {
	for _, f := range header {
		o.w.Header().Set(f.name, f.value)
	}
	o.w.WriteHeader(http.StatusOK)
	return o.control.Flush()
}

func (o *netOutlet) write(p []byte) error {
	if _, err := o.w.Write(p); err != nil {
		return err
	}
	return o.control.Flush()
}

func (o *netOutlet) finish(how ending, p []byte) {
	if how == endWhole {
		return // the library writes the last chunk
	}
	conn := o.seize()
	if how == endShort {
		_, _ = conn.Write(wire.ShortChunk(p)) // a client that has left gets nothing
	}
	endConn(conn, how)
}

// seize takes the connection from the library.
func (o *netOutlet) seize() net.Conn {
	conn, _, err := o.control.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's way to end a request; it logs nothing
	}
	_ = conn.SetDeadline(time.Time{})
	return conn
}

// endConn closes a connection by FIN or RST.
func endConn(conn net.Conn, how ending) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn() // the alert of a close would tell the client that all is well
	}
	if f, ok := conn.(*faultConn); ok {
		conn = f.Conn
	}
	if t, ok := conn.(*net.TCPConn); ok && how == endReset {
		_ = t.SetLinger(0)
	}
	_ = conn.Close()
}

// obstruct does what a verdict wants before an answer, and reports whether that
// has ended the request.
func (h *Handler) obstruct(w http.ResponseWriter, r *http.Request, q *query, e endpoint, data []byte) bool {
	out, v := newNetOutlet(w), &q.verdict
	if v.goaway {
		w.Header().Set("Connection", "close")
	}
	if v.delay > 0 {
		if !h.pause(v.delay, r.Context().Done()) {
			return true
		}
		q.arrived = h.driver.Now()
	}
	if v.stop == nil {
		return false
	}
	if a := h.stop(q, e, data); a != nil {
		a.write(w)
		return true
	}
	switch v.stop.Kind {
	case "hang":
		if !h.pause(v.stop.For.D(), r.Context().Done()) {
			return true
		}
	case "reset_early":
		endConn(out.seize(), endReset)
		return true
	case "not_http":
		conn := out.seize()
		_, _ = conn.Write([]byte(notHTTP))
		endConn(conn, endFIN)
		return true
	}
	endConn(out.seize(), endFIN)
	return true
}

// stop notes a request that a fault answers, and returns the answer; nil when
// that is none.
func (h *Handler) stop(q *query, e endpoint, data []byte) *answer {
	a := q.verdict.stop.instead(h.cfg.Model, time.Now())
	if generates(q.path) {
		entry, status := h.rec.arrive(q, e.chat, len(data)), 0
		if a != nil {
			status = a.status
		}
		h.rec.refused(entry, status)
	}
	return a
}

// scripted answers a call by a script.
func (h *Handler) scripted(w http.ResponseWriter, r *http.Request, j *job, s *script) {
	box, out := driver.NewMailbox(), newNetOutlet(w)
	if !h.driver.Offer(j.arrived, j.req, box) {
		out.answer(h.refuse(j, driver.Admission{Err: driver.ErrClosed}))
		return
	}
	p := &player{h: h, job: j, script: s, box: box, out: out, quit: r.Context().Done()}
	p.play()
}

// notHTTP is a greeting of another protocol.
const notHTTP = "SSH-2.0-OpenSSH_9.2p1\r\n"

// pause waits for a time, for ever if that is 0; false when the client leaves
// or the server stops before.
func (h *Handler) pause(d time.Duration, quit <-chan struct{}) bool {
	var over <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
		return true
	case <-quit:
	case <-h.driver.Stopped():
	}
	return false
}
