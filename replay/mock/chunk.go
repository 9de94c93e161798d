package mock

import (
	"encoding/json"
	"strconv"

	"reprise/replay/mock/engine"
)

// word is output token n (from 1) of an answer. Each is one token of the usual
// vocabularies, and their concatenation as many.
func word(key uint64, n int32) string {
	words := [...]string{" the", " of", " and", " to", " in", " is", " on", " that", " by", " this", " with", " you", " it", " not", " or", " be"}
	w := words[engine.Mix(key+uint64(n))%uint64(len(words))]
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
// The fields are those of vLLM 0.32 and in its order.
func (r *reply) event(dst []byte, ev engine.Event, sent int64) []byte {
	if ev.N == 1 && r.chat {
		dst = append(append(dst, r.open...), roleChoice+"],"+rolePrompt...)
		dst = r.shut(dst, sent)
	}
	dst = append(dst, r.open...)
	dst = append(dst, choiceOpen(r.chat)...)
	if ev.Finish != engine.Stop { // the token that stops an answer has no text
		dst = append(dst, word(r.key, ev.N)...)
	}
	dst = choiceShut(dst, r.chat, ev.Finish.String())
	dst = append(dst, ']')
	if ev.Finish == engine.Going {
		return r.shut(dst, sent)
	}
	return r.ending(dst, ev, sent)
}

// The parts of events. A role's event tells that no token ids were asked for.
const (
	roleChoice  = `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`
	rolePrompt  = `"prompt_token_ids":null,"prompt_text":null`
	fingerprint = `,"system_fingerprint":"` + fingerprintOf + `"`

	fingerprintOf = "reprise-mock"
)

// choiceOpen is a choice up to its text.
func choiceOpen(chat bool) string {
	if chat {
		return `{"index":0,"delta":{"content":"`
	}
	return `{"index":0,"text":"`
}

// choiceShut ends a choice behind its text.
func choiceShut(dst []byte, chat bool, reason string) []byte {
	if chat {
		dst = append(dst, `"}`...)
	} else {
		dst = append(dst, '"')
	}
	return choiceEnd(dst, chat, reason)
}

// choiceEnd ends a choice behind its delta or text; an empty reason is none yet.
func choiceEnd(dst []byte, chat bool, reason string) []byte {
	dst = append(dst, `,"logprobs":null,"finish_reason":`...)
	if reason == "" {
		dst = append(dst, "null"...)
	} else {
		dst = append(append(append(dst, '"'), reason...), '"')
	}
	switch {
	case !chat:
		dst = append(dst, `,"stop_reason":null,"prompt_token_ids":null`...)
	case reason != "":
		dst = append(dst, `,"stop_reason":null`...)
	}
	return append(dst, `,"token_ids":null}`...)
}

// shut ends an event behind its choices.
func (r *reply) shut(dst []byte, sent int64) []byte {
	if r.stamp {
		dst = append(dst, `,"x_mock_send_ns":`...)
		dst = strconv.AppendInt(dst, sent, 10)
	}
	return append(dst, "}\n\n"...)
}

// ending ends the last choice's event and appends the usage, if asked for, and
// [DONE].
func (r *reply) ending(dst []byte, ev engine.Event, sent int64) []byte {
	if r.includeUsage {
		dst = r.shut(dst, sent)
		dst = append(dst, r.open...)
		dst = append(dst, `],"usage":`...)
		dst = r.usage(dst, ev, usageStream)
	}
	dst = append(dst, fingerprint...)
	dst = r.shut(dst, sent)
	return append(dst, "data: [DONE]\n\n"...)
}

// usageForm is where a usage stands.
type usageForm uint8

const (
	usageStream usageForm = iota // an event of its own
	usageEvent                   // an event of a token
	usageWhole                   // an answer in one piece
)

func (r *reply) usage(dst []byte, ev engine.Event, form usageForm) []byte {
	ev.N = max(ev.N+r.usageBy, 0)
	dst = append(dst, `{"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(r.prompt), 10)
	dst = append(dst, `,"total_tokens":`...)
	dst = strconv.AppendInt(dst, int64(r.prompt)+int64(ev.N), 10)
	dst = append(dst, `,"completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(ev.N), 10)
	if form != usageEvent {
		dst = append(dst, `,"prompt_tokens_details":{"cached_tokens":`...)
		dst = strconv.AppendInt(dst, int64(ev.Cached), 10)
		switch {
		case r.chat:
			dst = append(dst, `,"created_cache_tokens":0`...)
		case form == usageWhole:
			dst = append(dst, `,"created_cache_tokens":null`...)
		}
		if form == usageWhole {
			dst = append(dst, `,"multimodal_tokens":null`...)
		}
		dst = append(dst, '}')
	}
	if form == usageWhole || form == usageEvent && r.chat {
		dst = append(dst, `,"completion_tokens_details":null`...)
	}
	return append(dst, '}')
}
