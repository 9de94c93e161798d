package mock

import (
	"encoding/json"
	"errors"
	"math"
)

// call is a decoded request of either API.
type call struct {
	chat            bool
	model           string
	messages        []message       // chat
	tools           json.RawMessage // chat: the definitions as they came
	text            string          // completions with a string
	tokens          []int32         // completions with token ids
	stream          bool
	includeUsage    bool
	continuousUsage bool  // usage in each event
	maxTokens       int32 // 0 when not asked for
	minTokens       int32
	ignoreEOS       bool
}

// message is what the prompt needs of a chat message.
type message struct {
	role  string
	texts []string // content parts, then tool calls as they came
}

// body is the union of both request bodies. Unknown fields are ignored, as
// vLLM does.
type body struct {
	Model               string          `json:"model"`
	Messages            []wireMessage   `json:"messages"`
	Tools               json.RawMessage `json:"tools"`
	Prompt              json.RawMessage `json:"prompt"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	MaxTokens           *int64          `json:"max_tokens"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens"`
	MinTokens           *int64          `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	N                   *int64          `json:"n"`
}

type streamOptions struct {
	IncludeUsage    bool `json:"include_usage"`
	ContinuousUsage bool `json:"continuous_usage_stats"`
}

type wireMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls json.RawMessage `json:"tool_calls"`
}

// completionDefault is vLLM's max_tokens of /v1/completions.
const completionDefault = 16

// decode reads a request body. Its errors are always 400.
func decode(chat bool, data []byte) (*call, *apiError) {
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, decodeError(err)
	}
	c := &call{chat: chat, model: b.Model, stream: b.Stream, ignoreEOS: b.IgnoreEOS}
	if b.N != nil && *b.N != 1 {
		return nil, badRequest("n", "n is %d: this server gives one completion a request", *b.N)
	}
	if b.StreamOptions != nil {
		if !b.Stream {
			return nil, badRequest("stream_options", "Stream options can only be defined when `stream=True`.")
		}
		c.includeUsage, c.continuousUsage = b.StreamOptions.IncludeUsage, b.StreamOptions.ContinuousUsage
	}
	if err := c.limits(&b); err != nil {
		return nil, err
	}
	if chat {
		c.tools = present(b.Tools)
		return c, c.chatPrompt(b.Messages)
	}
	return c, c.completionPrompt(b.Prompt)
}

// decodeError describes a failure of the decoder by place, never by content.
func decodeError(err error) *apiError {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return badRequest(kind.Field, "the request body has a %s where %q wants another type", kind.Value, kind.Field)
	case errors.As(err, &syntax):
		return badRequest("", "the request body is not JSON: byte %d", syntax.Offset)
	}
	return badRequest("", "the request body is not a JSON object")
}

// limits reads the output length.
func (c *call) limits(b *body) *apiError {
	most := b.MaxTokens
	if c.chat && b.MaxCompletionTokens != nil {
		most = b.MaxCompletionTokens
	}
	switch {
	case most != nil && (*most < 1 || *most > math.MaxInt32):
		return badRequest("max_tokens", "max_tokens must be at least 1, got %d.", *most)
	case most != nil:
		c.maxTokens = int32(*most)
	case !c.chat:
		c.maxTokens = completionDefault
	}
	if b.MinTokens == nil {
		return nil
	}
	if *b.MinTokens < 0 || *b.MinTokens > math.MaxInt32 {
		return badRequest("min_tokens", "min_tokens must be greater than or equal to 0, got %d.", *b.MinTokens)
	}
	c.minTokens = int32(*b.MinTokens)
	if c.maxTokens > 0 && c.minTokens > c.maxTokens {
		return badRequest("min_tokens", "min_tokens must be less than or equal to max_tokens=%d, got %d.", c.maxTokens, c.minTokens)
	}
	return nil
}

func (c *call) chatPrompt(in []wireMessage) *apiError {
	if len(in) == 0 {
		return badRequest("messages", "messages must have at least one message")
	}
	for i, m := range in {
		texts, ok := contentTexts(m.Content)
		if !ok {
			return badRequest("messages", "message %d: content must be a string or a list of text parts", i)
		}
		if calls := present(m.ToolCalls); calls != nil {
			texts = append(texts, string(calls))
		}
		c.messages = append(c.messages, message{role: m.Role, texts: texts})
	}
	return nil
}

// contentTexts reads a message's content: null, a string, or text parts.
func contentTexts(raw json.RawMessage) ([]string, bool) {
	if present(raw) == nil {
		return nil, true
	}
	if raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return []string{s}, err == nil
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil, false
	}
	var texts []string
	for _, p := range parts {
		if p.Type != "text" || p.Text == nil {
			return nil, false
		}
		texts = append(texts, *p.Text)
	}
	return texts, true
}

// completionPrompt reads a string, a list of token ids, or a list of just one
// of either.
func (c *call) completionPrompt(raw json.RawMessage) *apiError {
	raw = present(raw)
	if c.onePrompt(raw) {
		return c.checkTokens()
	}
	var list []json.RawMessage
	if raw != nil && json.Unmarshal(raw, &list) == nil && len(list) == 1 && c.onePrompt(list[0]) {
		return c.checkTokens()
	}
	return badRequest("prompt", "prompt must be a string or a list of token ids, and just one")
}

// onePrompt reads a string or a list of token ids.
func (c *call) onePrompt(raw json.RawMessage) bool {
	switch {
	case len(raw) == 0:
		return false
	case raw[0] == '"':
		return json.Unmarshal(raw, &c.text) == nil
	}
	tokens := []int32{}
	if raw[0] != '[' || json.Unmarshal(raw, &tokens) != nil {
		return false
	}
	c.tokens = tokens
	return true
}

func (c *call) checkTokens() *apiError {
	if c.tokens != nil && len(c.tokens) == 0 || c.tokens == nil && c.text == "" {
		return badRequest("prompt", "the prompt has no tokens")
	}
	for i, t := range c.tokens {
		if t < 0 {
			return badRequest("prompt", "token id %d of the prompt is negative", i)
		}
	}
	return nil
}

// present returns nil for a field that is missing or null.
func present(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// toolName is the name of the first function offered.
func (c *call) toolName() string {
	var tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(c.tools, &tools) == nil && len(tools) > 0 && tools[0].Function.Name != "" {
		return tools[0].Function.Name
	}
	return "answer"
}
