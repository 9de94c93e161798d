package chat

import (
	"slices"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
)

// shapeOf returns the JSON of a message of OpenAI's chat interface that is more
// than a role, a name and a text; empty for any other message.
func shapeOf(v *fastjson.Value) string {
	o, err := v.Object()
	if err != nil || v.GetStringBytes("role") == nil || !isChatContent(v.Get("content")) {
		return ""
	}
	more := false
	o.Visit(func(key []byte, x *fastjson.Value) {
		switch string(key) {
		case "role", "name":
		case "content":
			more = more || x.Type() == fastjson.TypeArray
		case "tool_calls", "tool_call_id", "reasoning_content", "reasoning", "thinking":
			more = more || x.Type() != fastjson.TypeNull
		}
	})
	if !more {
		return ""
	}
	dst := []byte{'{'}
	o.Visit(func(key []byte, x *fastjson.Value) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = notation.AppendString(dst, key)
		if dst = append(dst, ':'); string(key) == "content" {
			dst = appendParts(dst, x)
		} else {
			dst = notation.AppendValue(dst, x)
		}
	})
	return notation.String(append(dst, '}'))
}

// chatParts are the parts of a message that chat templates know.
var chatParts = [...]string{"text", "refusal", "image_url", "image", "input_audio", "audio_url", "audio", "video_url", "video"}

// isChatContent tells whether a content is null, a text, or parts of known types.
func isChatContent(v *fastjson.Value) bool {
	if v == nil || v.Type() == fastjson.TypeNull || v.Type() == fastjson.TypeString {
		return true
	}
	list, err := v.Array()
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(list, func(p *fastjson.Value) bool {
		return !slices.Contains(chatParts[:], string(p.GetStringBytes("type")))
	})
}

// appendParts writes a content; of parts that are not text only the type.
func appendParts(dst []byte, v *fastjson.Value) []byte {
	list, err := v.Array()
	if err != nil {
		return notation.AppendValue(dst, v)
	}
	dst = append(dst, '[')
	for i, p := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if kind := p.GetStringBytes("type"); string(kind) != "text" && string(kind) != "refusal" {
			dst = append(notation.AppendString(append(dst, `{"type":`...), kind), '}')
			continue
		}
		dst = notation.AppendValue(dst, p)
	}
	return append(dst, ']')
}
