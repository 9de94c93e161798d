package mock

import (
	"encoding/json"
	"strconv"

	"reprise/replay/mock/engine"
)

// This file writes the payloads of a shaped stream's events.

// head is an event up to its choices.
func (r *reply) head() []byte {
	const prefix = len("data: ")
	return append(make([]byte, 0, len(r.open)+256), r.open[prefix:]...)
}

// close ends a payload behind its choice.
func (s *script) close(p []byte, ev engine.Event, n int32) []byte {
	return s.stamped(s.usages(append(p, ']'), ev, n))
}

// finished ends a payload behind the last choice.
func (s *script) finished(p []byte, ev engine.Event) []byte {
	p = s.usages(append(p, ']'), ev, ev.N)
	if !s.usageLast() {
		p = append(p, fingerprint...)
	}
	return s.stamped(p)
}

// usageLast tells whether an event with the usage comes last.
func (s *script) usageLast() bool { return s.shape.Usage == "last" || s.shape.Usage == "every" }

// usages adds the usage up to token n where every event has it.
func (s *script) usages(p []byte, ev engine.Event, n int32) []byte {
	if s.shape.Usage == "every" {
		ev.N = n
		p = append(p, `,"usage":`...)
		p = s.rep.usage(p, ev, usageEvent)
	}
	return p
}

// stamped ends a payload.
func (s *script) stamped(p []byte) []byte {
	if s.rep.stamp {
		p = append(p, `,"x_mock_send_ns":`...)
		p = strconv.AppendInt(p, s.sent, 10)
	}
	return append(p, '}')
}

func (s *script) role(ev engine.Event) []byte {
	p := append(s.rep.head(), roleChoice+"]"...)
	p = s.usages(p, ev, 0)
	return s.stamped(append(p, ","+rolePrompt...))
}

// tokens is the event of the tokens since the last, up to ev's.
func (s *script) tokens(ev engine.Event) []byte {
	p := s.rep.head()
	if s.rep.chat {
		p = append(s.delta(append(p, `{"index":0,"delta":{`...), ev), '}')
	} else {
		p = append(s.text(append(p, choiceOpen(false)...), s.begun+1, s.upTo(ev)), '"')
	}
	if ev.Finish == engine.Going || s.shape.OwnFinish {
		return s.close(choiceEnd(p, s.rep.chat, ""), ev, ev.N)
	}
	return s.finished(choiceEnd(p, s.rep.chat, s.reason(ev)), ev)
}

// upTo is the last token that has text: one that stops an answer has none,
// unless the finish comes in an event of its own.
func (s *script) upTo(ev engine.Event) int32 {
	if ev.Finish == engine.Stop && !s.shape.OwnFinish {
		return ev.N - 1
	}
	return ev.N
}

// delta writes the fields of the delta of the tokens up to ev's.
func (s *script) delta(p []byte, ev engine.Event) []byte {
	switch {
	case ev.N <= s.think:
		p = append(append(append(p, '"'), s.reasoningField()...), `":"`...)
	case s.shape.Tools:
		return s.toolDelta(p, ev)
	default:
		p = append(p, `"content":"`...)
	}
	return append(s.text(p, s.begun+1, s.upTo(ev)), '"')
}

// toolDelta writes a piece of a call. The first has its id and name; the pieces
// of arguments together are a JSON object.
func (s *script) toolDelta(p []byte, ev engine.Event) []byte {
	p = append(p, `"tool_calls":[{`...)
	first := s.begun == s.think
	if first {
		p = append(append(append(p, `"id":"`...), s.callID()...), `","type":"function",`...)
	}
	p = append(p, `"index":0,"function":{`...)
	if first {
		name, err := json.Marshal(s.tool)
		if err == nil { // a string always marshals
			p = append(append(append(p, `"name":`...), name...), ',')
		}
	}
	p = append(p, `"arguments":"`...)
	if first {
		p = append(p, `{\"text\": \"`...)
	}
	p = s.text(p, s.begun+1, s.upTo(ev))
	if ev.Finish != engine.Going {
		p = append(p, `\"}`...)
	}
	return append(p, `"}}]`...)
}

func (s *script) callID() string { return "chatcmpl-tool-" + s.rep.id }

func (s *script) reasoningField() string {
	if s.shape.ReasoningField != "" {
		return s.shape.ReasoningField
	}
	return "reasoning_content"
}

// text appends the tokens from..to; none of their characters needs escaping.
func (s *script) text(p []byte, from, to int32) []byte {
	for n := from; n <= to; n++ {
		w := s.word(n)
		if n == s.think+1 && n > 1 {
			w = w[1:]
		}
		p = append(p, w...)
	}
	return p
}

func (s *script) word(n int32) string {
	if !s.shape.Unicode {
		return word(s.rep.key, n)
	}
	words := [...]string{" été", " naïve", " Größe", " 日本語", " 東京", " привет", " Ωμέγα", " 🙂", " 👩‍🚀", " ñandú"}
	w := words[engine.Mix(s.rep.key+uint64(n))%uint64(len(words))]
	if n == 1 {
		return w[1:]
	}
	return w
}

// reason is the finish reason.
func (s *script) reason(ev engine.Event) string {
	if s.shape.Tools && s.rep.chat && ev.Finish == engine.Stop && ev.N > s.think {
		return "tool_calls"
	}
	return ev.Finish.String()
}

// finish is the event that only ends the choice.
func (s *script) finish(ev engine.Event) []byte {
	p := s.rep.head()
	if s.rep.chat {
		p = append(p, `{"index":0,"delta":{}`...)
	} else {
		p = append(p, `{"index":0,"text":""`...)
	}
	return s.finished(choiceEnd(p, s.rep.chat, s.reason(ev)), ev)
}

// usage is the event of the usage alone.
func (s *script) usage(ev engine.Event) []byte {
	p := append(s.rep.head(), `],"usage":`...)
	return s.stamped(append(s.rep.usage(p, ev, usageStream), fingerprint...))
}
