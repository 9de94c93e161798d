package mock

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// This file writes the payloads of a shaped stream's events, and the shaped
// answer of a call that does not stream.

// head is an event up to its choices.
func (r *reply) head() []byte {
	const prefix = len("data: ")
	return append(make([]byte, 0, len(r.open)+256), r.open[prefix:]...)
}

// close ends a payload behind its choices.
func (s *script) close(p []byte, ev Event, n int32) []byte {
	if s.shape.Usage == "every" {
		ev.N = n
		p = append(p, `,"usage":`...)
		p = s.rep.usage(p, ev)
	}
	if s.rep.stamp {
		p = append(p, `,"x_mock_send_ns":`...)
		p = strconv.AppendInt(p, s.sent, 10)
	}
	return append(p, '}')
}

func (s *script) role(ev Event) []byte {
	p := append(s.rep.head(), `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
	return s.close(p, ev, 0)
}

// tokens is the event of the tokens since the last, up to ev's.
func (s *script) tokens(ev Event) []byte {
	p := s.rep.head()
	if s.rep.chat {
		p = append(p, `{"index":0,"delta":{`...)
		p = s.delta(p, ev)
		p = append(p, `},"logprobs":null,"finish_reason":`...)
	} else {
		p = append(p, `{"index":0,"text":"`...)
		p = s.text(p, s.begun+1, ev.N)
		p = append(p, `","logprobs":null,"finish_reason":`...)
	}
	if last := ev.Finish != Going && s.shape.LastFinish; last {
		p = append(append(append(p, '"'), s.reason(ev)...), `","stop_reason":null}]`...)
	} else if s.rep.chat {
		p = append(p, `null}]`...)
	} else {
		p = append(p, `null,"stop_reason":null}]`...)
	}
	return s.close(p, ev, ev.N)
}

// delta writes the fields of the delta of the tokens up to ev's.
func (s *script) delta(p []byte, ev Event) []byte {
	switch {
	case ev.N <= s.think:
		p = append(append(append(p, '"'), s.reasoningField()...), `":"`...)
	case s.shape.Tools:
		return s.toolDelta(p, ev)
	default:
		p = append(p, `"content":"`...)
	}
	return append(s.text(p, s.begun+1, ev.N), '"')
}

// toolDelta writes a piece of a call. The first has its id and name; the pieces
// of arguments together are a JSON object.
func (s *script) toolDelta(p []byte, ev Event) []byte {
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
	p = s.text(p, s.begun+1, ev.N)
	if ev.Finish != Going {
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
	w := words[mix(s.rep.key+uint64(n))%uint64(len(words))]
	if n == 1 {
		return w[1:]
	}
	return w
}

// reason is the finish reason.
func (s *script) reason(ev Event) string {
	if s.shape.Tools && s.rep.chat && ev.Finish == Stop && ev.N > s.think {
		return "tool_calls"
	}
	return ev.Finish.String()
}

// finish is the event that only ends the choice.
func (s *script) finish(ev Event) []byte {
	p := s.rep.head()
	if s.rep.chat {
		p = append(p, `{"index":0,"delta":{},"logprobs":null,"finish_reason":"`...)
	} else {
		p = append(p, `{"index":0,"text":"","logprobs":null,"finish_reason":"`...)
	}
	p = append(append(p, s.reason(ev)...), `","stop_reason":null}]`...)
	return s.close(p, ev, ev.N)
}

// usage is the event of the usage alone.
func (s *script) usage(ev Event) []byte {
	p := append(s.rep.head(), `],"usage":`...)
	p = s.rep.usage(p, ev)
	if s.rep.stamp {
		p = append(p, `,"x_mock_send_ns":`...)
		p = strconv.AppendInt(p, s.sent, 10)
	}
	return append(p, '}')
}

// wholeBody is the answer of a call that does not stream.
func (s *script) wholeBody(ev Event) []byte {
	s.plan(ev.N)
	w := s.rep.whole(ev)
	choice := w["choices"].([]any)[0].(map[string]any)
	choice["finish_reason"] = s.reason(ev)
	if s.rep.chat {
		choice["message"] = s.message(ev)
	} else {
		choice["text"] = string(s.text(nil, 1, ev.N))
	}
	if s.v.noUsage {
		delete(w, "usage")
	}
	return jsonAnswer(http.StatusOK, w).body
}

// message is the whole answer of a chat.
func (s *script) message(ev Event) map[string]any {
	m := map[string]any{"role": "assistant", "content": nil}
	if s.think > 0 {
		m[s.reasoningField()] = string(s.text(nil, 1, s.think))
	}
	rest := string(s.text(nil, s.think+1, ev.N))
	if !s.shape.Tools || ev.N <= s.think {
		m["content"] = rest
		return m
	}
	m["tool_calls"] = []any{map[string]any{"id": s.callID(), "type": "function",
		"function": map[string]any{"name": s.tool, "arguments": `{"text": "` + rest + `"}`}}}
	return m
}
