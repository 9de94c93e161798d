package ingest

import (
	"strings"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// own copies text out of a parser's buffer; bytes that are not UTF-8 become
// U+FFFD.
func own(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// messages reads a chat prompt: an array of messages, of which those without a
// role are items of the Responses interface; or one string. media counts the
// parts that are not text.
func messages(v *fastjson.Value) (out []Message, media int, ok bool) {
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return []Message{{Role: "user", Text: own(b)}}, 0, true
	case fastjson.TypeArray:
	default:
		return nil, 0, false
	}
	list, _ := v.Array()
	out = make([]Message, 0, len(list))
	for _, m := range list {
		if m.Type() != fastjson.TypeObject {
			return nil, 0, false
		}
		text, n := content(m.Get("content"))
		msg := Message{Role: own(m.GetStringBytes("role")), Name: own(m.GetStringBytes("name")), Text: text}
		if msg.Role == "" {
			msg.Role = own(m.GetStringBytes("type"))
		}
		for _, key := range []string{"tool_calls", "function_call", "arguments", "output"} {
			if part := m.Get(key); part != nil && part.Type() != fastjson.TypeNull {
				msg.Text += rawJSON(part)
			}
		}
		out, media = append(out, msg), media+n
	}
	return out, media, true
}

// content joins the text parts of a message and counts the others.
func content(v *fastjson.Value) (text string, media int) {
	if v == nil {
		return "", 0
	}
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return own(b), 0
	case fastjson.TypeObject:
		return part(v)
	case fastjson.TypeArray:
		var b strings.Builder
		list, _ := v.Array()
		for _, p := range list {
			t, n := part(p)
			b.WriteString(t)
			media += n
		}
		return b.String(), media
	}
	return "", 0
}

// part reads one part of a message's content. Parts of tools and thinking are
// text of the prompt; images, audio and files are media.
func part(v *fastjson.Value) (string, int) {
	if v.Type() == fastjson.TypeString {
		b, _ := v.StringBytes()
		return own(b), 0
	}
	for _, key := range []string{"text", "refusal", "thinking", "input", "arguments"} {
		if t := v.Get(key); t != nil && t.Type() != fastjson.TypeNull {
			return rawJSON(t), 0
		}
	}
	if inner := v.Get("content"); inner != nil {
		return content(inner)
	}
	if v.Type() == fastjson.TypeObject {
		return "", 1
	}
	return "", 0
}

// rawJSON is a string's text, or the JSON of anything else.
func rawJSON(v *fastjson.Value) string {
	if v.Type() == fastjson.TypeString {
		b, _ := v.StringBytes()
		return own(b)
	}
	return own(v.MarshalTo(nil))
}

// answer reads what was generated: a string, a message, or the choices of a
// response, whose texts are joined. finish is that of the first choice.
func answer(v *fastjson.Value) (text, finish string, ok bool) {
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return own(b), "", true
	case fastjson.TypeObject:
		return answerText(v), own(v.GetStringBytes("finish_reason")), true
	case fastjson.TypeArray:
	default:
		return "", "", false
	}
	var b strings.Builder
	list, _ := v.Array()
	for i, c := range list {
		b.WriteString(answerText(c))
		if i == 0 {
			finish = own(c.GetStringBytes("finish_reason"))
		}
	}
	return b.String(), finish, true
}

// answerText reads a choice, a message in it, or an output item. Reasoning is
// generated text like any other.
func answerText(v *fastjson.Value) string {
	if m := v.Get("message"); m != nil {
		v = m
	} else if m := v.Get("delta"); m != nil {
		v = m
	}
	var b strings.Builder
	for _, key := range []string{"reasoning_content", "reasoning", "content", "text", "tool_calls", "arguments"} {
		t := v.Get(key)
		if t == nil || t.Type() == fastjson.TypeNull {
			continue
		}
		if key == "content" {
			s, _ := content(t)
			b.WriteString(s)
			continue
		}
		b.WriteString(rawJSON(t))
	}
	return b.String()
}
