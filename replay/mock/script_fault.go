package mock

import (
	"bytes"
	"time"

	"reprise/replay/mock/engine"
)

// faults lets those happen whose turn it is before an event.
func (s *script) faults(line []byte) {
	if s.over {
		return
	}
	due := func(p **Fault) *Fault {
		f := *p
		if f == nil || s.count < f.After && !s.late {
			return nil
		}
		*p = nil
		return f
	}
	if f := due(&s.v.stall); f != nil {
		s.held = max(s.held, s.now) + f.For.D()
		if f.For == 0 {
			s.push(nil, endSilent)
		}
	}
	if f := due(&s.v.bad); f != nil {
		s.push(s.frame([]byte(`{"id":"`+s.rep.id+`","choices":[{"index":0,"delta":{"content":"`)), goesOn)
	}
	f := due(&s.v.end)
	if f == nil {
		return
	}
	switch f.Kind {
	case "reset":
		s.push(nil, endReset)
	case "fin":
		s.push(line[:len(line)/2], goesOn)
		s.push(nil, endFIN)
	case "truncate":
		s.push(line[:len(line)/2], endShort)
	case "cut":
		s.push(line[:len(line)/2], endWhole)
	case "error_event":
		s.push(s.frame(errorPayload(f)), goesOn)
		if !s.shape.NoDone {
			s.push(s.frame([]byte("[DONE]")), goesOn)
		}
		s.push(nil, endWhole)
	}
}

// errorPayload is an error inside a stream, as vLLM sends it.
func errorPayload(f *Fault) []byte {
	e := &apiError{Status: 500, Message: f.message(), Type: "InternalServerError"}
	return bytes.TrimSpace(e.answer().body)
}

// whole returns the segments of an answer that does not stream. Faults that
// wait for an event happen in its middle.
func (s *script) whole(ev engine.Event, now time.Duration) []segment {
	s.tick(now)
	s.late, s.complete = true, true
	body := s.wholeBody(ev)
	if f := s.v.end; f != nil && f.Kind == "error_event" {
		body, s.v.end = errorPayload(f), nil
	}
	if s.v.bad != nil {
		body, s.v.bad = body[:len(body)/2], nil
	}
	if s.v.stall != nil || s.v.end != nil {
		s.push(body[:len(body)/2], goesOn)
		body = body[len(body)/2:]
		s.faults(body)
	}
	s.push(body, endWhole)
	return s.flush()
}
