package chat

import (
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
)

// answerReader collects what was generated from a response: a string, a message,
// the choices, candidates or items of a whole response, or the events of a
// stream. Texts of several choices are joined.
type answerReader struct {
	text   strings.Builder
	finish string // of the first that has one
	known  bool   // the shape is one that we know
}

// Answer reads a response. ok is false for a shape that holds no answer.
func Answer(v *fastjson.Value) (text, finish string, ok bool) {
	var a answerReader
	if v.Type() != fastjson.TypeString && v.Type() != fastjson.TypeObject && v.Type() != fastjson.TypeArray {
		return "", "", false
	}
	a.read(v, 0)
	return a.text.String(), a.finish, a.known
}

// Keys under which responses keep their answers, in the order of looking: the
// first one that is there holds everything. The last four are those of a stream
// of Bedrock and of Anthropic.
func answerHolders() [12]string {
	return [12]string{"choices", "candidates", "generations", "results", "outputs", "output", "message", "delta",
		"contentBlockDelta", "contentBlockStart", "messageStop", "chunk"}
}

// Keys of generated text, reasoning first as it is generated first.
func answerTexts() [19]string {
	return [19]string{"reasoning_content", "reasoning", "thinking", "content", "contents", "parts", "text", "outputText", "generation",
		"completion", "generated_text", "response", "refusal", "partial_json", "tool_calls", "function_call",
		"toolUse", "reasoningContent", "arguments"}
}

func (a *answerReader) read(v *fastjson.Value, depth int) {
	if depth > maxShape {
		return
	}
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		a.add(notation.String(b))
	case fastjson.TypeArray:
		list := v.GetArray()
		a.known = a.known || len(list) == 0
		for _, e := range list {
			a.read(e, depth+1)
		}
	case fastjson.TypeObject:
		a.object(v, depth)
	}
}

func (a *answerReader) object(v *fastjson.Value, depth int) {
	f := flatness(v)
	a.ended(v)
	for _, key := range answerHolders() {
		if inner := v.Get(key); inner != nil && (inner.Type() == fastjson.TypeObject || inner.Type() == fastjson.TypeArray) {
			a.known = true
			a.read(inner, depth+1)
			return
		}
	}
	for _, key := range answerTexts() {
		t := f.get(v, key)
		if t == nil || t.Type() == fastjson.TypeNull {
			a.known = a.known || t != nil
			continue
		}
		switch key {
		case "content", "contents", "parts", "reasoningContent", "response":
			s, _ := Content(t)
			a.add(s)
		default:
			a.add(notation.Text(t))
		}
	}
	if out := v.Get("output"); out != nil && out.Type() == fastjson.TypeString {
		a.add(notation.Text(out))
	}
	if isEvent(v) {
		a.known = true
	}
}

// isEvent says that an object is an event of a stream, which may have no text.
func isEvent(v *fastjson.Value) bool {
	for _, key := range []string{"metadata", "messageStart", "contentBlockStop", "usage", "usageMetadata"} {
		if v.Get(key) != nil {
			return true
		}
	}
	switch string(v.GetStringBytes("type")) {
	case "message_start", "message_delta", "message_stop", "content_block_start", "content_block_stop", "ping":
		return true
	}
	return false
}

func (a *answerReader) add(s string) {
	a.known = true
	a.text.WriteString(s)
}

// ended takes the reason for which generation ended.
func (a *answerReader) ended(v *fastjson.Value) {
	for _, key := range []string{"finish_reason", "stop_reason", "stopReason", "finishReason", "completionReason", "done_reason"} {
		if a.finish != "" {
			return
		}
		a.finish = FinishReason(v.Get(key))
	}
}

// FinishReason is the text of a finish reason: a string, an object with a type, or
// the first of a list.
func FinishReason(v *fastjson.Value) string {
	if v == nil {
		return ""
	}
	switch v.Type() {
	case fastjson.TypeString:
		return notation.String(v.GetStringBytes())
	case fastjson.TypeObject:
		return notation.String(v.GetStringBytes("type"))
	case fastjson.TypeArray:
		if list := v.GetArray(); len(list) > 0 {
			return FinishReason(list[0])
		}
	}
	return ""
}
