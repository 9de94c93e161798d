package chat

import (
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
)

// maxShape is how deep messages and answers are looked into.
const maxShape = 16

// Messages reads a chat prompt in the shapes of OpenAI, Anthropic, Gemini,
// Bedrock, the OpenTelemetry conventions, OpenInference and LangChain: a list of
// messages, an object that holds one, or one string. media counts the parts that
// are not text.
func Messages(v *fastjson.Value) (out []Message, media int, ok bool) {
	return messageList(v, 0)
}

func messageList(v *fastjson.Value, depth int) (out []Message, media int, ok bool) {
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return []Message{{Role: "user", Text: notation.String(b)}}, 0, true
	case fastjson.TypeObject:
		for _, key := range []string{"messages", "contents", "input", "args", "prompts", "prompt"} {
			if inner := v.Get(key); inner != nil && depth < maxShape && inner.Type() != fastjson.TypeNull {
				return messageList(inner, depth+1)
			}
		}
		if !isMessage(v) {
			return nil, 0, false
		}
		m, n := readMessage(v)
		return []Message{m}, n, true
	case fastjson.TypeArray:
	default:
		return nil, 0, false
	}
	list, _ := v.Array()
	if len(list) == 1 && list[0].Type() == fastjson.TypeArray && depth < maxShape {
		return messageList(list[0], depth+1) // a batch of one
	}
	out = make([]Message, 0, len(list))
	for _, v := range list {
		switch v.Type() {
		case fastjson.TypeString:
			out = append(out, saidByUser(v))
		case fastjson.TypeObject:
			m, n := readMessage(v)
			out, media = append(out, m), media+n
		default:
			return nil, 0, false
		}
	}
	return out, media, true
}

// saidByUser is a message that is only text, or one that Python printed, as in
// role='system' content='...'.
func saidByUser(v *fastjson.Value) Message {
	s := notation.String(v.GetStringBytes())
	if strings.HasPrefix(s, "role='") || strings.HasPrefix(s, `role="`) {
		if b, ok := notation.PythonFields(nil, s); ok {
			if v, err := fastjson.ParseBytes(b); err == nil {
				m, _ := readMessage(v)
				return m
			}
		}
	}
	return Message{Role: "user", Text: s}
}

// isMessage tells a message from any other object.
func isMessage(v *fastjson.Value) bool {
	for _, key := range []string{"role", "parts", "message", "message.role", "kwargs"} {
		if v.Get(key) != nil {
			return true
		}
	}
	return false
}

// readMessage reads one message. Those without a role are items of the Responses
// interface, whose type stands in its place.
func readMessage(v *fastjson.Value) (Message, int) {
	v, class := unwrapMessage(v)
	f := flatness(v)
	text, media := messageText(v, f)
	m := Message{Role: roleOf(v, f, class), Name: notation.String(f.get(v, "name").GetStringBytes()), Text: text}
	for _, key := range [...]string{"tool_calls", "function_call", "arguments", "output"} {
		if part := f.get(v, key); part != nil && part.Type() != fastjson.TypeNull {
			m.Text += notation.Text(part)
		}
	}
	if class == "" {
		m.Shape = shapeOf(v)
	}
	return m, media
}

// unwrapMessage takes off the envelopes of OpenInference and LangChain. class is
// the class of a LangChain message.
func unwrapMessage(v *fastjson.Value) (m *fastjson.Value, class string) {
	if inner := v.Get("message"); inner != nil && inner.Type() == fastjson.TypeObject {
		v = inner
	}
	if inner := v.Get("kwargs"); inner != nil && inner.Type() == fastjson.TypeObject {
		if id := v.GetArray("id"); len(id) > 0 {
			class = string(id[len(id)-1].GetStringBytes())
		}
		return inner, class
	}
	if inner := v.Get("data"); inner != nil && inner.Type() == fastjson.TypeObject && inner.Get("content") != nil {
		return inner, string(v.GetStringBytes("type"))
	}
	return v, ""
}

// roleOf gives the role in the words of OpenAI.
func roleOf(v *fastjson.Value, f prefixed, class string) string {
	role := class
	for _, key := range [...]string{"role", "from", "type"} {
		if role == "" {
			role = notation.String(f.get(v, key).GetStringBytes())
		}
	}
	if role == "user" || role == "assistant" {
		return role
	}
	switch strings.TrimSuffix(strings.ToLower(role), "message") {
	case "human", "user":
		return "user"
	case "ai", "gpt", "model", "bot", "aimessagechunk", "assistant":
		return "assistant"
	case "system":
		return "system"
	case "tool":
		return "tool"
	}
	return role
}

func messageText(v *fastjson.Value, f prefixed) (string, int) {
	for _, key := range [...]string{"content", "contents", "parts", "value", "text"} {
		if c := f.get(v, key); c != nil && c.Type() != fastjson.TypeNull {
			return Content(c)
		}
	}
	return "", 0
}

// prefixed says that the keys of a message have its kind before them, as in
// message.role, which flattened exports write.
type prefixed bool

func flatness(v *fastjson.Value) prefixed {
	return prefixed(v.Get("role") == nil && v.Get("message.role") != nil)
}

func (f prefixed) get(v *fastjson.Value, key string) *fastjson.Value {
	if f {
		return v.Get("message." + key)
	}
	return v.Get(key)
}

// Content joins the text parts of a message and counts the others.
func Content(v *fastjson.Value) (text string, media int) {
	if v == nil {
		return "", 0
	}
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return notation.String(b), 0
	case fastjson.TypeObject:
		return part(v, 0)
	case fastjson.TypeArray:
		return parts(v, 0)
	}
	return "", 0
}

func parts(v *fastjson.Value, depth int) (text string, media int) {
	var b strings.Builder
	for _, p := range v.GetArray() {
		t, n := part(p, depth)
		b.WriteString(t)
		media += n
	}
	return b.String(), media
}

// part reads one part of a message's content. Parts of tools and thinking are
// text of the prompt; images, audio and files are media.
func part(v *fastjson.Value, depth int) (string, int) {
	if v.Type() == fastjson.TypeString {
		b, _ := v.StringBytes()
		return notation.String(b), 0
	}
	if v.Type() != fastjson.TypeObject || depth > maxShape {
		return "", 0
	}
	for _, key := range [...]string{"text", "refusal", "thinking", "input", "arguments", "functionCall", "function_call",
		"functionResponse", "function_response", "toolUse", "response", "result", "message_content.text"} {
		if t := v.Get(key); t != nil && t.Type() != fastjson.TypeNull {
			return notation.Text(t), 0
		}
	}
	for _, key := range []string{"content", "message_content", "toolResult", "reasoningContent", "reasoningText", "parts", "prompt", "json"} {
		switch inner := v.Get(key); {
		case inner == nil || inner.Type() == fastjson.TypeNull:
		case inner.Type() == fastjson.TypeArray:
			return parts(inner, depth+1)
		case key == "json":
			return notation.Text(inner), 0
		default:
			return part(inner, depth+1)
		}
	}
	if v.Get("cachePoint") != nil || v.Get("thought_signature") != nil {
		return "", 0 // marks, not content
	}
	if isMedia(v) {
		return "", 1
	}
	return notation.Text(v), 0
}

// isMedia tells images, audio, video and files from other parts.
func isMedia(v *fastjson.Value) bool {
	for _, key := range []string{"image", "image_url", "input_audio", "audio", "video", "document", "file", "source", "uri",
		"inlineData", "inline_data", "fileData", "file_data"} {
		if v.Get(key) != nil {
			return true
		}
	}
	kind := strings.ToLower(string(v.GetStringBytes("type")))
	for _, word := range []string{"image", "audio", "video", "document", "file", "media", "blob", "uri"} {
		if strings.Contains(kind, word) {
			return true
		}
	}
	return false
}
