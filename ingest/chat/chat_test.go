package chat

import (
	"testing"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/trace"
)

// The same exchange in the shapes of the vendors' documentation.
func TestMessages(t *testing.T) {
	for name, in := range map[string]string{
		"openai":        `[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]`,
		"parts":         `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"H"},{"type":"text","text":"i"}]}]}`,
		"responses":     `{"input":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"input_text","text":"Hi"}]}]}`,
		"gemini":        `{"contents":[{"role":"system","parts":[{"text":"Be brief."}]},{"role":"user","parts":[{"text":"Hi"}]}]}`,
		"langchain":     `[[{"id":["langchain","SystemMessage"],"kwargs":{"content":"Be brief."}},{"id":["langchain","HumanMessage"],"kwargs":{"content":"Hi"}}]]`,
		"openinference": `[{"message.role":"system","message.content":"Be brief."},{"message.role":"user","message.content":"Hi"}]`,
		"python":        `["role='system' content='Be brief.'","role='user' content='Hi'"]`,
	} {
		list, media, ok := Messages(fastjson.MustParse(in))
		if !ok || media != 0 || len(list) != 2 || list[0].Role != "system" || list[0].Text != "Be brief." || list[1].Role != "user" || list[1].Text != "Hi" {
			t.Errorf("%s: %v %+v", name, ok, list)
		}
	}
	if _, media, ok := Messages(fastjson.MustParse(`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]`)); !ok || media != 1 {
		t.Errorf("%d images", media)
	}
	if _, _, ok := Messages(fastjson.MustParse(`[1,2]`)); ok {
		t.Error("numbers are taken for messages")
	}
}

func TestAnswer(t *testing.T) {
	for name, in := range map[string]string{
		"openai":    `{"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}`,
		"stream":    `[{"choices":[{"delta":{"content":"Hel"}}]},{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}]`,
		"anthropic": `{"type":"message","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}`,
		"gemini":    `{"candidates":[{"content":{"parts":[{"text":"Hello"}]},"finishReason":"STOP"}]}`,
		"bedrock":   `{"output":{"message":{"role":"assistant","content":[{"text":"Hello"}]}},"stopReason":"end_turn"}`,
	} {
		text, finish, ok := Answer(fastjson.MustParse(in))
		if !ok || text != "Hello" || FinishOf(finish) != trace.FinishStop {
			t.Errorf("%s: %v %q %q", name, ok, text, finish)
		}
	}
	if _, _, ok := Answer(fastjson.MustParse(`{"error":{"code":429}}`)); ok {
		t.Error("an error is taken for an answer")
	}
}

func TestEndpoint(t *testing.T) {
	for in, want := range map[string]trace.API{"/v1/chat/completions": trace.Chat, "/v1/completions": trace.Completions,
		"/v1/responses": trace.Responses, "/v1/messages": trace.Messages, "x": trace.APIUnknown} {
		if api, other := Endpoint(in); api != want || other {
			t.Errorf("%s is %v, %v", in, api, other)
		}
	}
	if _, other := Endpoint("/v1/embeddings"); !other {
		t.Error("embeddings generate text")
	}
}

// No value of any shape makes a reader of messages or answers panic.
func FuzzValues(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `"\"{}\""`, "data: {}\n\n", "{}\n{}", "{'a': b'x'}", "[Foo(a=1)]", "{'a': {1, 2}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var n notation.Decoder
		v := n.Decode(s)
		if v != nil && v.Type() != fastjson.TypeObject && v.Type() != fastjson.TypeArray {
			t.Fatalf("a %s", v.Type())
		}
		if v != nil {
			Messages(v)
			Answer(v)
		}
	})
}
