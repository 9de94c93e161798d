package mock

import (
	"encoding/json"
	"strconv"
)

// word is output token n (from 1) of an answer. Each is one token of the usual
// vocabularies, and their concatenation as many.
func word(key uint64, n int32) string {
	words := [...]string{" the", " of", " and", " to", " in", " is", " on", " that", " by", " this", " with", " you", " it", " not", " or", " be"}
	w := words[mix(key+uint64(n))%uint64(len(words))]
	if n == 1 {
		return w[1:]
	}
	return w
}

// reply is what all parts of one answer have in common.
type reply struct {
	chat         bool
	id, model    string
	created      int64  // Unix seconds
	key          uint64 // of the words
	prompt       int32
	includeUsage bool
	usageBy      int32  // added to the completion tokens of the usage
	stamp        bool   // events carry their send time
	open         []byte // an event up to its choices
}

func newReply(c *call, id string, created int64, prompt int32, key uint64) *reply {
	r := &reply{chat: c.chat, id: id, model: c.model, created: created, key: key, prompt: prompt, includeUsage: c.includeUsage}
	object := "text_completion"
	if c.chat {
		object = "chat.completion.chunk"
	}
	head, err := json.Marshal(struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		Model   string `json:"model"`
	}{id, object, created, c.model})
	if err != nil { // strings and an integer always marshal
		head = []byte("{}")
	}
	r.open = append(append([]byte("data: "), head[:len(head)-1]...), `,"choices":[`...)
	return r
}

// event appends the SSE events of a token; sent is the time of writing, Unix ns.
func (r *reply) event(dst []byte, ev Event, sent int64) []byte {
	if ev.N == 1 && r.chat {
		dst = append(dst, r.open...)
		dst = append(dst, `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
		dst = r.shut(dst, sent)
	}
	dst = append(dst, r.open...)
	if r.chat {
		dst = append(dst, `{"index":0,"delta":{"content":"`...)
		dst = append(dst, word(r.key, ev.N)...)
		dst = append(dst, `"},"logprobs":null,"finish_reason":null}]`...)
	} else {
		dst = append(dst, `{"index":0,"text":"`...)
		dst = append(dst, word(r.key, ev.N)...)
		dst = append(dst, `","logprobs":null,"finish_reason":null,"stop_reason":null}]`...)
	}
	dst = r.shut(dst, sent)
	if ev.Finish == Going {
		return dst
	}
	return r.ending(dst, ev, sent)
}

// shut ends an event behind its choices.
func (r *reply) shut(dst []byte, sent int64) []byte {
	if r.stamp {
		dst = append(dst, `,"x_mock_send_ns":`...)
		dst = strconv.AppendInt(dst, sent, 10)
	}
	return append(dst, "}\n\n"...)
}

// ending appends the finish event, the usage if asked for, and [DONE].
func (r *reply) ending(dst []byte, ev Event, sent int64) []byte {
	dst = append(dst, r.open...)
	if r.chat {
		dst = append(dst, `{"index":0,"delta":{},"logprobs":null,"finish_reason":"`...)
	} else {
		dst = append(dst, `{"index":0,"text":"","logprobs":null,"finish_reason":"`...)
	}
	dst = append(dst, ev.Finish.String()...)
	dst = append(dst, `","stop_reason":null}]`...)
	dst = r.shut(dst, sent)
	if r.includeUsage {
		dst = append(dst, r.open...)
		dst = append(dst, `],"usage":`...)
		dst = r.usage(dst, ev)
		dst = r.shut(dst, sent)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

func (r *reply) usage(dst []byte, ev Event) []byte {
	ev.N = max(ev.N+r.usageBy, 0)
	dst = append(dst, `{"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(r.prompt), 10)
	dst = append(dst, `,"total_tokens":`...)
	dst = strconv.AppendInt(dst, int64(r.prompt)+int64(ev.N), 10)
	dst = append(dst, `,"completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(ev.N), 10)
	dst = append(dst, `,"prompt_tokens_details":{"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(ev.Cached), 10)
	return append(dst, "}}"...)
}

// whole is the answer of a call that does not stream.
func (r *reply) whole(ev Event) map[string]any {
	var text []byte
	for n := range ev.N {
		text = append(text, word(r.key, n+1)...)
	}
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": ev.Finish.String(), "stop_reason": nil}
	object := "text_completion"
	if r.chat {
		object = "chat.completion"
		choice["message"] = map[string]any{"role": "assistant", "content": string(text)}
	} else {
		choice["text"] = string(text)
	}
	return map[string]any{
		"id": r.id, "object": object, "created": r.created, "model": r.model,
		"choices": []any{choice}, "usage": json.RawMessage(r.usage(nil, ev)),
	}
}
