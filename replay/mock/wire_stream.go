package mock

import (
	"net/http"
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/engine"
	"reprise/replay/mock/wire"
)

// wireStream writes one answer. Its methods run on the engine's goroutine.
type wireStream struct {
	c     *wireConn
	h     *Handler
	job   *job
	keep  bool // the connection goes on after it
	plain bool // HTTP/1.0: no chunks
	rate  engine.Rate
	id    engine.ID
	over  bool
	done  chan struct{}
	quit  chan struct{} // of a scripted answer: closed when the client leaves
}

func (s *wireStream) Admitted(a driver.Admission) {
	s.id, s.rate = a.ID, a.Rate
	switch {
	case a.Err != nil:
		s.over = true
		s.c.out.Write(s.c.render(s.h.refuse(s.job, a), s.keep), wire.NoDue)
		s.finish()
	case s.job.call.stream:
		s.open()
	}
}

// open sends the head, as servers do before they have a token.
func (s *wireStream) open() {
	out := appendHead(s.c.w.scratch[:0], http.StatusOK, s.job.opening(s.rate), s.keep)
	if !s.plain {
		out = append(out, "Transfer-Encoding: chunked\r\n"...)
	}
	out = append(out, "\r\n"...)
	s.c.w.scratch = out
	s.c.out.Write(out, wire.NoDue) // a failure shows again at the first token
}

func (s *wireStream) Put(ev engine.Event) {
	switch {
	case s.over:
	case s.job.call.stream:
		s.token(ev)
	case ev.Finish != engine.Going:
		s.over = true
		if !s.c.w.spawn(func() { s.whole(ev) }) { // a long answer takes a while to render
			s.gone()
		}
	}
}

// token writes a token's events as one chunk.
func (s *wireStream) token(ev engine.Event) {
	var sent int64
	if s.job.rep.stamp {
		sent = time.Now().UnixNano()
	}
	out := s.c.w.scratch[:0]
	if s.plain {
		out = s.job.rep.event(out, ev, sent)
	} else {
		out = append(out, wire.ChunkRoom...)
		out = s.job.rep.event(out, ev, sent)
		out = wire.Frame(out, ev.Finish != engine.Going)
	}
	s.c.w.scratch = out
	if !s.plain {
		out = wire.Trim(out)
	}
	var at time.Duration // before the write: a client is charged for it, and not for what keeps us from a look at the clock after it
	if s.h.rec != nil {
		at = s.h.driver.Now()
	}
	if !s.c.out.Write(out, ev.At) {
		s.h.driver.Drop(s.id)
		s.gone()
		return
	}
	s.h.rec.token(s.job.entry, ev, at)
	if ev.Finish != engine.Going {
		s.over = true
		s.finish()
	}
}

// whole answers a call that does not stream, on a goroutine of its own.
func (s *wireStream) whole(last engine.Event) {
	a := s.job.closing(s.rate, last)
	if s.c.out.Write(s.c.render(a, s.keep), last.At) {
		s.h.rec.token(s.job.entry, last, s.h.driver.Now())
	} else {
		s.h.rec.left(s.job.entry, s.h.driver.Now())
	}
	s.finish()
}

// finish lets the connection go on, or ends it once all is written.
func (s *wireStream) finish() {
	close(s.done)
	if !s.keep {
		s.c.out.End(func() { _ = s.c.conn.Close() })
	}
}

// leave drops the request of a client that has gone away.
func (s *wireStream) leave() {
	if s.quit != nil {
		close(s.quit)
	}
	if s.over {
		return
	}
	s.h.driver.Drop(s.id)
	s.gone()
}

func (s *wireStream) gone() {
	s.over, s.keep = true, false
	s.h.rec.left(s.job.entry, s.h.driver.Now())
	close(s.done)
}
