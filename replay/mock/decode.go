package mock

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
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
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
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
	if len(data) == 0 {
		return nil, invalid("body", "missing", "Field required")
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, decodeError(err)
	}
	c := &call{chat: chat, model: b.Model, stream: b.Stream, ignoreEOS: b.IgnoreEOS}
	if err := b.sampling(); err != nil {
		return nil, err
	}
	if b.StreamOptions != nil {
		if !b.Stream {
			return nil, badRequest("stream_options", "Stream options can only be defined when `stream=True`. (parameter=stream_options)")
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
		place := "body"
		if kind.Field != "" {
			place += "." + kind.Field
		}
		return invalidType(place, kind)
	case errors.As(err, &syntax):
		return invalid("body."+strconv.FormatInt(syntax.Offset, 10), "json_invalid", "JSON decode error")
	}
	return invalid("body", "json_invalid", "JSON decode error")
}

// invalidType words a value of another type than its field's.
func invalidType(place string, e *json.UnmarshalTypeError) *apiError {
	text := e.Value == "string"
	switch e.Type.Kind() {
	case reflect.Slice:
		return invalid(place, "list_type", "Input should be a valid list")
	case reflect.Struct:
		return invalid(place, "model_attributes_type", "Input should be a valid dictionary or object to extract fields from")
	case reflect.String:
		return invalid(place, "string_type", "Input should be a valid string")
	case reflect.Bool:
		if text {
			return invalid(place, "bool_parsing", "Input should be a valid boolean, unable to interpret input")
		}
		return invalid(place, "bool_type", "Input should be a valid boolean")
	case reflect.Int64:
		if text {
			return invalid(place, "int_parsing", "Input should be a valid integer, unable to parse string as an integer")
		}
		return invalid(place, "int_type", "Input should be a valid integer")
	}
	if text {
		return invalid(place, "float_parsing", "Input should be a valid number, unable to parse string as a number")
	}
	return invalid(place, "float_type", "Input should be a valid number")
}

// sampling checks what no token here depends on.
func (b *body) sampling() *apiError {
	const most = 16384 // vLLM's VLLM_MAX_N_SEQUENCES
	switch n := b.N; {
	case n == nil:
	case *n < 1:
		return badRequest("", "n must be at least 1, got %d.", *n)
	case *n > most:
		return badRequest("", "n must be at most %d, got %d. To increase this limit, set the VLLM_MAX_N_SEQUENCES environment variable.", most, *n)
	case *n > 1:
		return badRequest("n", "n is %d: this server gives one completion a request", *n)
	}
	out := func(name, rule string, v float64) *apiError {
		f := pythonFloat(v)
		return badRequest(name, "%s must be %s, got %s. (parameter=%s, value=%s)", name, rule, f, name, f)
	}
	switch t, p := b.Temperature, b.TopP; {
	case t != nil && *t < 0:
		return out("temperature", "non-negative", *t)
	case t != nil && *t > 2:
		return out("temperature", "in [0, 2]", *t)
	case p != nil && !(*p > 0 && *p <= 1):
		return out("top_p", "in (0, 1]", *p)
	}
	return nil
}

// limits reads the output length.
func (c *call) limits(b *body) *apiError {
	most := b.MaxTokens
	if c.chat && b.MaxCompletionTokens != nil {
		most = b.MaxCompletionTokens
	}
	switch {
	case most != nil && (*most < 1 || *most > math.MaxInt32):
		return badRequest("max_tokens", "max_tokens must be at least 1, got %d. (parameter=max_tokens, value=%d)", *most, *most)
	case most != nil:
		c.maxTokens = int32(*most)
	case !c.chat:
		c.maxTokens = completionDefault
	}
	if b.MinTokens == nil {
		return nil
	}
	if *b.MinTokens < 0 || *b.MinTokens > math.MaxInt32 {
		return badRequest("", "min_tokens must be greater than or equal to 0, got %d.", *b.MinTokens)
	}
	c.minTokens = int32(*b.MinTokens)
	if c.maxTokens > 0 && c.minTokens > c.maxTokens {
		return badRequest("", "min_tokens must be less than or equal to max_tokens=%d, got %d.", c.maxTokens, c.minTokens)
	}
	return nil
}

func (c *call) chatPrompt(in []wireMessage) *apiError {
	if in == nil {
		return invalid("body.messages", "missing", "Field required")
	}
	if len(in) == 0 {
		return badRequest("", "Cannot apply chat template to an empty conversation. Provide at least one message.")
	}
	for i, m := range in {
		texts, ok := contentTexts(m.Content)
		if !ok {
			place := "body.messages." + strconv.Itoa(i) + ".ChatCompletionDeveloperMessageParam.content" // the first of vLLM's alternatives
			return invalid(place, "string_type", "content must be a string or a list of text parts")
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
	switch string(raw) {
	case "", `""`:
		return badRequest("prompt", "Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)")
	case "[]":
		return badRequest("", "You must pass at least one prompt")
	}
	if c.onePrompt(raw) {
		return c.checkTokens()
	}
	var list []json.RawMessage
	if raw != nil && json.Unmarshal(raw, &list) == nil && len(list) == 1 && c.onePrompt(list[0]) {
		return c.checkTokens()
	}
	return invalid("body.prompt", "list_type", "prompt must be a string or a list of token ids, and just one")
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
			return invalid("body.prompt."+strconv.Itoa(i), "greater_than_equal", "Input should be greater than or equal to 0")
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
