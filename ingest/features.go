package ingest

import (
	"strings"

	"github.com/valyala/fastjson"

	"reprise/trace"
)

// prompt reads what was asked, as messages or as text, and infers the endpoint
// from which of them is there when the log does not name it.
func (b *builder) prompt(r *Record) {
	if s, ok := b.get(FieldAPI); ok {
		r.API, r.OtherAPI = endpoint(s)
	}
	if c, _, ok := b.cell(FieldMessages); ok {
		b.chat(r, c)
	}
	if c, _, ok := b.cell(FieldPrompt); ok && !r.HasPrompt {
		b.text(r, c)
	}
	if c, _, ok := b.cell(FieldSystem); ok && r.HasPrompt && len(r.Messages) > 0 {
		if text, n := b.content(c); text != "" {
			r.Messages = append([]Message{{Role: "system", Text: text}}, r.Messages...)
			r.MediaParts += n
		}
	}
}

func (b *builder) chat(r *Record, c cell) {
	v := c.node
	if inner := b.inner(c); inner != nil {
		v = inner
	}
	if v == nil { // a table cell with plain text
		r.Messages = []Message{{Role: "user", Text: own([]byte(c.text))}}
	} else {
		var ok bool
		if r.Messages, r.MediaParts, ok = messages(v); !ok {
			b.fail(badField(BadType, FieldMessages, "is no list of messages"))
			return
		}
	}
	if len(r.Messages) == 0 {
		return
	}
	r.HasPrompt = true
	if r.API == trace.APIUnknown && !r.OtherAPI {
		r.API = trace.Chat
	}
}

// inner parses a list or object that is stored as text.
func (b *builder) inner(c cell) *fastjson.Value {
	s := c.text
	if c.node != nil {
		if c.node.Type() != fastjson.TypeString {
			return nil
		}
		t, _ := c.node.StringBytes()
		s = string(t)
	}
	if s = strings.TrimSpace(s); s == "" || (s[0] != '[' && s[0] != '{') {
		return nil
	}
	return b.read.first().inner.decode(s)
}

func (b *builder) content(c cell) (string, int) {
	if c.node == nil {
		return own([]byte(c.text)), 0
	}
	return content(c.node)
}

// text reads a prompt of the completions interface: a string, several that are
// joined, or token ids.
func (b *builder) text(r *Record, c cell) {
	r.HasPrompt = true
	if r.API == trace.APIUnknown && !r.OtherAPI {
		r.API = trace.Completions
	}
	if c.node == nil {
		r.Prompt = own([]byte(c.text))
		return
	}
	list, err := c.node.Array()
	if err != nil || len(list) == 0 || list[0].Type() != fastjson.TypeNumber {
		r.Prompt, r.MediaParts = content(c.node)
		return
	}
	r.PromptTokens = make([]int32, 0, len(list))
	for _, v := range list {
		id, err := v.Int64()
		if err != nil || id < 0 || id > 1<<30 {
			b.fail(badField(BadType, FieldPrompt, "has an entry that is no token id"))
			return
		}
		r.PromptTokens = append(r.PromptTokens, int32(id))
	}
}

func (b *builder) answer(r *Record) {
	c, _, ok := b.cell(FieldOutput)
	if !ok {
		return
	}
	v := c.node
	if inner := b.inner(c); inner != nil {
		v = inner
	}
	if v == nil {
		r.Output, r.HasOutput = own([]byte(c.text)), true
		return
	}
	text, finish, ok := answer(v)
	if !ok {
		b.fail(badField(BadType, FieldOutput, "is no text, message or list of choices"))
		return
	}
	r.Output, r.HasOutput, r.Finish = text, true, finishOf(finish)
}

// features reads what the request used. A log of whole requests says no by
// leaving a key out; any other log says nothing.
func (b *builder) features(r *Record) {
	r.Stream = b.flag(FieldStream)
	r.ProxyCache = b.flag(FieldProxyCache)
	r.Tools = b.present(FieldTools)
	if c, _, ok := b.cell(FieldTools); ok && r.Tools.V && c.node != nil && c.node.Type() == fastjson.TypeArray {
		r.ToolText = rawJSON(c.node)
	}
	r.JSONSchema = b.schema()
	if !b.mapping.Complete || !r.HasPrompt {
		return
	}
	for _, f := range []*trace.Opt[bool]{&r.Stream, &r.Tools, &r.JSONSchema} {
		if !f.OK {
			*f = trace.Some(false)
		}
	}
}

// flag reads a bool in the spellings of JSON, Python, SQL and of the gateways.
func (b *builder) flag(f Field) trace.Opt[bool] {
	s, ok := b.get(f)
	if !ok {
		return trace.Opt[bool]{}
	}
	switch strings.ToLower(s) {
	case "true", "t", "yes", "1", "hit", "streaming":
		return trace.Some(true)
	case "false", "f", "no", "0", "miss", "non-streaming":
		return trace.Some(false)
	}
	return trace.Opt[bool]{}
}

// present is true for a list or object that is not empty.
func (b *builder) present(f Field) trace.Opt[bool] {
	c, _, ok := b.cell(f)
	if !ok {
		return trace.Opt[bool]{}
	}
	if inner := b.inner(c); inner != nil {
		c = cell{node: inner}
	}
	if c.node != nil {
		switch c.node.Type() {
		case fastjson.TypeArray:
			list, _ := c.node.Array()
			return trace.Some(len(list) > 0)
		case fastjson.TypeObject:
			o, _ := c.node.Object()
			return trace.Some(o.Len() > 0)
		}
	}
	return b.flag(f)
}

// schema reads response_format: only a JSON schema constrains the answer.
func (b *builder) schema() trace.Opt[bool] {
	c, _, ok := b.cell(FieldJSONSchema)
	if !ok {
		return trace.Opt[bool]{}
	}
	if inner := b.inner(c); inner != nil {
		c = cell{node: inner}
	}
	if c.node == nil || c.node.Type() != fastjson.TypeObject {
		if s, ok := b.scalar(c); ok && s == "json_schema" {
			return trace.Some(true)
		}
		return b.flag(FieldJSONSchema)
	}
	switch string(c.node.GetStringBytes("type")) {
	case "text", "json_object":
		return trace.Some(false)
	}
	return trace.Some(true)
}

// ending reads status, error and finish reason.
func (b *builder) ending(r *Record) {
	if s, ok := b.get(FieldFinish); ok {
		r.Finish = finishOf(s)
	}
	if s, ok := b.get(FieldStatus); ok {
		switch code, wrong := parseCount(s, 999); {
		case wrong == "":
			r.Status = trace.Some(int16(code))
		case strings.EqualFold(s, "failure"), strings.EqualFold(s, "error"), strings.EqualFold(s, "failed"):
			r.Finish = trace.FinishError
		}
	}
	if c, _, ok := b.cell(FieldError); ok && !emptyError(c) {
		r.Finish = trace.FinishError
	}
	switch {
	case r.Status.V == 499:
		r.Finish = trace.FinishCancelled
	case r.Status.V >= 400:
		r.Finish = trace.FinishError
	}
}

// emptyError says that an error column holds no error.
func emptyError(c cell) bool {
	if c.node == nil {
		return false
	}
	switch c.node.Type() {
	case fastjson.TypeString:
		s, _ := c.node.StringBytes()
		return len(s) == 0
	case fastjson.TypeFalse:
		return true
	case fastjson.TypeObject:
		o, _ := c.node.Object()
		return o.Len() == 0
	}
	return false
}

// finishOf maps the vendors' finish reasons to our classes.
func finishOf(s string) trace.Finish {
	switch strings.ToLower(s) {
	case "stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed":
		return trace.FinishStop
	case "length", "max_tokens", "max_output_tokens":
		return trace.FinishLength
	case "tool_calls", "tool_use", "function_call":
		return trace.FinishToolCalls
	case "content_filter", "refusal", "safety":
		return trace.FinishContentFilter
	case "error", "failed":
		return trace.FinishError
	case "abort", "cancelled", "canceled":
		return trace.FinishCancelled
	}
	return trace.FinishUnknown
}

// endpoint tells the interface from a URL or an operation's name; other is a
// call that generates no text.
func endpoint(s string) (api trace.API, other bool) {
	s = strings.ToLower(s)
	for _, word := range []string{"embed", "moderation", "rerank", "images", "image_generation", "audio", "transcri",
		"speech", "/models", "tokenize", "/score", "/files", "/health", "/metrics"} {
		if strings.Contains(s, word) {
			return trace.APIUnknown, true
		}
	}
	switch {
	case strings.Contains(s, "chat"), s == "completion", s == "acompletion":
		return trace.Chat, false
	case strings.Contains(s, "completion"):
		return trace.Completions, false
	case strings.Contains(s, "responses"):
		return trace.Responses, false
	case strings.Contains(s, "messages"):
		return trace.Messages, false
	}
	return trace.APIUnknown, false
}
