package mock

import (
	"bytes"
	"time"

	"reprise/replay/mock/engine"
)

// minPing keeps a ping from flooding its client.
const minPing = time.Millisecond

// script turns one answer's tokens into the bytes of its body, and says when
// each leaves. It has no clock and no socket: times are given, and come back in
// segments. Answers without a fault, a shape or a buffer need none.
type script struct {
	rep   *reply
	shape Shape
	v     verdict
	think int32   // tokens of reasoning
	tool  string  // name of the function that a tool call calls
	hold  *holder // nil: nothing is held back

	now   time.Duration
	sent  int64         // stamp of the events, Unix ns
	held  time.Duration // nothing leaves before
	ping  time.Duration // the next one; 0 for none
	begun int32         // tokens that are in events
	count int           // content events
	late  bool          // no more events with content: what faults wait for more happen now
	over  bool
	out   []segment

	complete bool // the last token is in
}

// newScript makes the script of a call; nil where the answer goes out as it is.
func newScript(cfg *Config, j *job, q *query) *script {
	v, c := q.verdict, j.call
	b := cfg.Buffer
	b.Gzip = b.Gzip && q.gzip || v.gzip
	if (cfg.Shape == Shape{}) && !v.touchesBody() && (b == Buffer{}) && !(c.includeUsage && c.continuousUsage) {
		return nil
	}
	s := &script{rep: j.rep, shape: cfg.Shape, v: v, hold: newHolder(b), tool: c.toolName()}
	if !c.stream {
		s.shape.Ping = 0
	}
	s.shape.NoDone = s.shape.NoDone || v.noDone
	s.rep.usageBy = v.usage
	switch {
	case v.noUsage:
		s.shape.Usage = "never"
	case s.shape.Usage == "" && c.includeUsage && c.continuousUsage:
		s.shape.Usage = "every"
	case s.shape.Usage == "" && c.includeUsage:
		s.shape.Usage = "last"
	}
	return s
}

// plan fixes how many tokens are reasoning, once the length of the answer is
// known.
func (s *script) plan(target int32) {
	if !s.rep.chat {
		return
	}
	s.think = int32(s.shape.Reasoning * float64(target))
	if s.think == target && target > 1 {
		s.think-- // an answer follows
	}
}

// header is what the head says beside the usual.
func (s *script) header() []field {
	if s.hold != nil && s.hold.zip != nil {
		return []field{{"Content-Encoding", "gzip"}}
	}
	return nil
}

// begin starts the clock of the pings; the head leaves now.
func (s *script) begin(now time.Duration) {
	s.now = now
	if s.shape.Ping > 0 {
		s.ping = now + s.shape.Ping.D()
	}
}

// add takes tokens in and returns the segments they make.
func (s *script) add(events []engine.Event, now time.Duration, sent int64) []segment {
	s.tick(now)
	s.sent = sent
	for _, ev := range events {
		s.token(ev)
	}
	return s.flush()
}

// wake returns the segments that are due by now without a token.
func (s *script) wake(now time.Duration) []segment {
	s.tick(now)
	return s.flush()
}

// next is when wake wants to be called; false when only tokens bring more.
func (s *script) next() (time.Duration, bool) {
	at, ok := s.ping, s.ping > 0 && !s.over
	if s.hold != nil {
		if due, is := s.hold.due(); is && (!ok || due < at) {
			at, ok = due, true
		}
	}
	return at, ok
}

func (s *script) tick(now time.Duration) {
	for s.ping > 0 && s.ping <= now && !s.over {
		s.now = max(s.now, s.ping)
		s.push([]byte(": ping"+s.eol()+s.eol()), goesOn)
		s.ping += s.shape.Ping.D()
	}
	s.now = max(s.now, now)
	if s.hold != nil {
		s.out = s.hold.tick(s.out, s.now)
	}
}

func (s *script) flush() []segment {
	out := s.out
	s.out = nil
	return out
}

// token puts a token into an event, or keeps it for the next.
func (s *script) token(ev engine.Event) {
	if ev.N == 1 {
		s.plan(ev.Target)
		if s.rep.chat && !s.shape.NoRole {
			s.event(s.role(ev), false)
		}
	}
	last := ev.Finish != engine.Going
	s.late = last && !s.shape.OwnFinish
	if ev.N == 1 || last || ev.N == s.think || int(ev.N-s.begun) >= max(s.shape.Interval, 1) {
		s.event(s.tokens(ev), true)
		s.begun = ev.N
	}
	if last {
		s.ending(ev)
	}
}

// ending brings the finish, the usage and [DONE].
func (s *script) ending(ev engine.Event) {
	s.late, s.complete = true, true
	if s.shape.OwnFinish {
		s.event(s.finish(ev), true)
	}
	if s.usageLast() {
		s.event(s.usage(ev), false)
	}
	if !s.shape.NoDone {
		s.event([]byte("[DONE]"), false)
	}
	s.push(nil, endWhole)
}

// event sends an event, unless a fault comes in its place. Faults wait for
// events with content.
func (s *script) event(payload []byte, content bool) {
	if s.over {
		return
	}
	line := s.frame(payload)
	if content {
		s.faults(line)
		s.count++
	}
	s.push(line, goesOn)
}

// push cuts bytes into writes and hands them on; nothing follows an ending.
func (s *script) push(data []byte, end ending) {
	if s.over {
		return
	}
	s.over = end != goesOn
	size := len(data)
	if s.shape.Split > 0 && end != endShort {
		size = s.shape.Split
	}
	for len(data) > size {
		s.pass(data[:size], goesOn)
		data = data[size:]
		if s.shape.SplitGap > 0 {
			s.held = max(s.held, s.now) + s.shape.SplitGap.D()
		}
	}
	s.pass(data, end)
}

func (s *script) pass(data []byte, end ending) {
	seg := segment{at: max(s.now, s.held), data: data, end: end}
	if s.hold != nil {
		s.out = s.hold.pass(s.out, seg)
		return
	}
	s.out = append(s.out, seg)
}

func (s *script) eol() string {
	switch {
	case s.shape.CRLF:
		return "\r\n"
	case s.shape.CR:
		return "\r"
	}
	return "\n"
}

// frame makes an event of a payload.
func (s *script) frame(payload []byte) []byte {
	prefix := "data: "
	if s.shape.NoSpace {
		prefix = "data:"
	}
	out := append(make([]byte, 0, len(payload)+32), prefix...)
	if i := bytes.IndexByte(payload, ','); s.shape.Multiline && i >= 0 { // the comma behind the id
		out = append(append(append(out, payload[:i+1]...), s.eol()...), prefix...)
		payload = payload[i+1:]
	}
	return append(append(append(out, payload...), s.eol()...), s.eol()...)
}
