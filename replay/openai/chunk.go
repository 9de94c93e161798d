package openai

import (
	"bytes"

	"github.com/tidwall/gjson"

	"reprise/trace"
)

// chunk is what one event of a stream says.
type chunk struct {
	choice  bool  // a choice is in it
	content bool  // text of the answer that is not empty
	reason  bool  // text of reasoning that is not empty
	tool    bool  // a tool call
	chars   int32 // Unicode characters of all three
	finish  trace.Finish
	usage   usage
	failed  bool   // it carries an error
	message string // the error's message
	invalid bool   // it is not a JSON object
	far     int64  // x_mock_send_ns, the stamp of a mock; 0: none
	choiceText
	more []choiceText // of further choices, where an event has several
}

// choiceText is what one choice says in an event: the insides of JSON strings of
// content, reasoning and tool calls.
type choiceText struct {
	index int32 // of the choice in the answer
	said  [3][]byte
}

// usage is the server's count of tokens.
type usage struct{ in, out, cached trace.Opt[int32] }

// readChunk is the general reader.
func readChunk(data []byte) chunk {
	if !gjson.ValidBytes(data) {
		return chunk{invalid: true}
	}
	root := gjson.ParseBytes(data)
	if !root.IsObject() {
		return chunk{invalid: true}
	}
	var c chunk
	if e := root.Get("error"); truthy(e) {
		c.failed, c.message = true, errorMessage(root)
	}
	if root.Get("object").Str == "error" {
		c.failed, c.message = true, errorMessage(root)
	}
	root.Get("choices").ForEach(func(_, choice gjson.Result) bool {
		if c.choice { // the fields are the last one's
			c.more = append(c.more, c.choiceText)
			c.choiceText = choiceText{}
		}
		c.choice, c.index = true, int32(choice.Get("index").Int())
		c.read(choice)
		return true
	})
	c.usage = readUsage(root.Get("usage"))
	if v := root.Get(farStamp); v.Type == gjson.Number {
		c.far = v.Int()
	}
	return c
}

// read adds one choice: a delta of a chat stream, a whole message, or the text
// of a completion.
func (c *chunk) read(choice gjson.Result) {
	part := choice.Get("delta")
	if !part.Exists() {
		part = choice.Get("message")
	}
	for _, text := range []gjson.Result{part.Get("content"), part.Get("refusal"), choice.Get("text")} {
		if n := textChars(text); n > 0 {
			c.content, c.chars = true, c.chars+n
			c.say(0, text)
		}
	}
	// One reasoning text under either of its names.
	thought := part.Get("reasoning_content")
	if textChars(thought) == 0 {
		thought = part.Get("reasoning")
	}
	if n := textChars(thought); n > 0 {
		c.reason, c.chars = true, c.chars+n
		c.say(1, thought)
	}
	calls := part.Get("tool_calls").Array()
	if f := part.Get("function_call"); f.IsObject() {
		calls = append(calls, gjson.Parse(`{"function":`+f.Raw+`}`))
	}
	for _, call := range calls {
		c.readCall(call)
	}
	if f := choice.Get("finish_reason"); f.Type == gjson.String {
		c.finish = finishOf(f.Str)
	}
}

// readCall adds a tool call. One that says nothing, as the last of some streams,
// is none.
func (c *chunk) readCall(call gjson.Result) {
	c.tool = c.tool || call.Get("id").Str != ""
	for _, path := range []string{"function.name", "function.arguments", "custom.name", "custom.input"} {
		text := call.Get(path)
		if n := textChars(text); n > 0 {
			c.tool, c.chars = true, c.chars+n
			c.say(2, text)
		}
	}
}

// say keeps the inside of a JSON string, or of the text parts of a list.
func (c *chunk) say(part int, v gjson.Result) {
	switch {
	case v.IsArray():
		v.ForEach(func(_, item gjson.Result) bool {
			c.say(part, item.Get("text"))
			return true
		})
	case v.Type == gjson.String:
		c.said[part] = append(c.said[part], v.Raw[1:len(v.Raw)-1]...)
	}
}

// textChars returns the Unicode characters of a JSON string, or of the text
// parts of a list.
func textChars(v gjson.Result) int32 {
	if v.IsArray() {
		var n int32
		v.ForEach(func(_, part gjson.Result) bool {
			n += textChars(part.Get("text"))
			return true
		})
		return n
	}
	if v.Type != gjson.String {
		return 0
	}
	return jsonChars([]byte(v.Raw[1 : len(v.Raw)-1]))
}

func readUsage(u gjson.Result) usage {
	if !u.IsObject() {
		return usage{}
	}
	out := usage{in: count(u.Get("prompt_tokens")), out: count(u.Get("completion_tokens"))}
	out.cached = count(u.Get("prompt_tokens_details.cached_tokens"))
	if !out.cached.OK {
		out.cached = count(u.Get("prompt_cache_hit_tokens")) // DeepSeek's name
	}
	return out
}

func count(v gjson.Result) trace.Opt[int32] {
	n := v.Int()
	if v.Type != gjson.Number || n < 0 || n > 1<<30 {
		return trace.Opt[int32]{}
	}
	return trace.Some(int32(n))
}

// truthy reports whether a value is there and says something.
func truthy(v gjson.Result) bool {
	return v.Exists() && v.Type != gjson.Null && v.Type != gjson.False && v.Raw != `""` && v.Raw != "{}"
}

// errorMessage returns the message of an error answer in the shapes of OpenAI,
// vLLM and FastAPI.
func errorMessage(root gjson.Result) string {
	for _, path := range []string{"error.message", "message", "detail", "error"} {
		if v := root.Get(path); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}

// finishOf maps a finish reason; abort and the like are errors.
func finishOf(reason string) trace.Finish {
	switch reason {
	case "function_call":
		return trace.FinishToolCalls
	case "abort", "aborted":
		return trace.FinishCancelled
	}
	return trace.ParseFinish(reason)
}

// scan walks the strings of an object once and knows the keys of a plain chunk,
// into c, which is empty. It is sure only when every key that could carry content,
// an end, a count or an error is one that it read, and the brackets close.
func (c *chunk) scan(b []byte) (sure bool) {
	b = bytes.TrimSpace(b)
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return false
	}
	depth, seen := 0, scanned{}
	for i := 0; i < len(b); {
		switch b[i] {
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth--; depth == 0 && i != len(b)-1 {
				return false
			}
			i++
		case '"':
			end := stringEnd(b, i+1)
			if end < 0 {
				return false
			}
			key := b[i+1 : end]
			if i = end + 1; i >= len(b) || b[i] != ':' {
				if i < len(b) && (b[i] == ' ' || b[i] == '\t') {
					return false // a space before a colon: not the plain shape
				}
				continue // a value
			}
			for i++; i < len(b) && b[i] == ' '; i++ {
			}
			if i == len(b) {
				return false
			}
			seen.depth = depth
			next, ok := c.scanValue(key, b, i, &seen)
			if !ok {
				return false
			}
			i = next
		default:
			i++
		}
	}
	return depth == 0 && seen.texts <= 1 && seen.indexes <= 1 && c.choice
}

// scanned counts what may stand once in a plain chunk.
type scanned struct {
	texts, indexes int
	depth          int // of the value that is looked at
}

// scanValue looks at the value at i of a key, and returns where to go on.
func (c *chunk) scanValue(key, b []byte, i int, seen *scanned) (next int, ok bool) {
	switch string(key) {
	case "content", "text":
		if b[i] == '"' {
			return c.scanText(b, i, &c.content, 0, seen)
		}
	case "reasoning_content", "reasoning":
		if b[i] == '"' {
			return c.scanText(b, i, &c.reason, 1, seen)
		}
	case "choices":
		if b[i] == '[' && i+1 < len(b) && b[i+1] == '{' {
			c.choice = true
			return i, true
		}
		return i, false
	case "delta":
		return i, b[i] == '{'
	case "id", "object", "created", "model", "index", "role", "system_fingerprint", "service_tier":
		if string(key) == "object" && !bytes.HasPrefix(b[i:], []byte(`"chat`)) && !bytes.HasPrefix(b[i:], []byte(`"text`)) {
			return i, false
		}
		if string(key) == "index" {
			c.index = digits(b[i:])
			seen.indexes++
		}
		return i, b[i] != '{' && b[i] != '['
	case farStamp:
		if seen.depth == 1 {
			return c.scanStamp(b, i)
		}
		return i, false
	}
	// finish_reason, usage, logprobs, tool_calls, error and whatever else may
	// stand there as null without a word.
	return i, bytes.HasPrefix(b[i:], []byte("null"))
}

// digits reads the number that b begins with, 0 where it is none or long.
func digits(b []byte) (n int32) {
	for i := 0; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if i == 6 {
			return 0
		}
		n = n*10 + int32(b[i]-'0')
	}
	return n
}

// farStamp is the key of a mock's stamp, Unix ns.
const farStamp = "x_mock_send_ns"

// scanStamp reads the stamp of a mock, so that its events are as cheap as a
// server's.
func (c *chunk) scanStamp(b []byte, i int) (next int, ok bool) {
	if c.far != 0 || b[i] < '1' || b[i] > '8' {
		return i, false
	}
	from := i
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		c.far = c.far*10 + int64(b[i]-'0')
	}
	return i, i-from <= 19 && i < len(b) && (b[i] == ',' || b[i] == '}')
}

func (c *chunk) scanText(b []byte, i int, is *bool, part int, seen *scanned) (next int, ok bool) {
	end := stringEnd(b, i+1)
	if end < 0 {
		return i, false
	}
	if n := jsonChars(b[i+1 : end]); n > 0 {
		*is, c.chars = true, c.chars+n
		c.said[part] = b[i+1 : end : end]
		seen.texts++
	}
	return end + 1, true
}

// stringEnd returns the index of the quote that ends the JSON string whose
// first byte is at i, -1 when there is none.
func stringEnd(b []byte, i int) int {
	for i < len(b) {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return -1
		}
		end := i + k
		back := end
		for back > i && b[back-1] == '\\' {
			back--
		}
		if (end-back)%2 == 0 {
			return end
		}
		i = end + 1
	}
	return -1
}

// jsonChars returns the Unicode characters of the inside of a JSON string: an
// escape is one, and so are the two escapes of a surrogate pair.
func jsonChars(s []byte) int32 {
	var n int32
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
			if i < len(s) && s[i] == 'u' {
				i += 4
				if pairFollows(s, i) {
					i += 6
				}
			}
			n++
		case s[i]&0xc0 != 0x80:
			n++
		}
	}
	return n
}

// pairFollows reports whether the escape that ends at i is a high surrogate
// and a low one stands after it.
func pairFollows(s []byte, i int) bool {
	if i+6 >= len(s) || s[i+1] != '\\' || s[i+2] != 'u' {
		return false
	}
	high, low := bytes.ToLower(s[i-3:i-1]), bytes.ToLower(s[i+3:i+5])
	return high[0] == 'd' && high[1] >= '8' && high[1] <= 'b' && low[0] == 'd' && low[1] >= 'c' && low[1] <= 'f'
}
