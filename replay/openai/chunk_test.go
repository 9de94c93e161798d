package openai

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"reprise/trace"
)

const plainChunk = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1790000000,"model":"m","choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`

func n32(v int32) trace.Opt[int32] { return trace.Some(v) }

// parseChunk reads the JSON of one event, as answer.parse does.
func parseChunk(data []byte) chunk {
	if c, sure := scanChunk(data); sure {
		return c
	}
	return readChunk(data)
}

func scanChunk(b []byte) (c chunk, sure bool) {
	sure = c.scan(b)
	return c, sure
}

func TestParseChunk(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       chunk
		fast       bool
	}{
		{"plain", plainChunk, chunk{choice: true, content: true, chars: 6}, true},
		{"role only", `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`, chunk{choice: true}, true},
		{"null content", `{"choices":[{"delta":{"content":null},"finish_reason":null}],"usage":null,"error":null}`, chunk{choice: true}, true},
		{"reasoning", `{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, chunk{choice: true, reason: true, chars: 2}, true},
		{"reasoning, new name", `{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`, chunk{choice: true, reason: true, chars: 2}, false},
		{"completion", `{"object":"text_completion","choices":[{"index":0,"text":"ab","finish_reason":null}]}`, chunk{choice: true, content: true, chars: 2}, true},
		{"spaces", `{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}`, chunk{choice: true, content: true, chars: 1}, false},
		{"escapes", `{"choices":[{"delta":{"content":"\"\\\u00e9\ud83d\ude00é\n"}}]}`, chunk{choice: true, content: true, chars: 6}, true},
		{"keys in the text", `{"choices":[{"delta":{"content":"\"finish_reason\":\"stop\",\"error\":{"}}]}`, chunk{choice: true, content: true, chars: 32}, true},
		{"finish", `{"choices":[{"delta":{},"finish_reason":"length"}]}`, chunk{choice: true, finish: trace.FinishLength}, false},
		{"finish and content", `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`, chunk{choice: true, content: true, chars: 1, finish: trace.FinishStop}, false},
		{"tool call", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}}]}`, chunk{choice: true, tool: true, chars: 3}, false},
		{"tool call that says nothing", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":""}}]}}]}`, chunk{choice: true}, false},
		{"tool call by its id", `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"arguments":""}}]}}]}`, chunk{choice: true, tool: true}, false},
		{"custom tool call", `{"choices":[{"delta":{"tool_calls":[{"index":0,"custom":{"name":"f","input":"xy"}}]}}]}`, chunk{choice: true, tool: true, chars: 3}, false},
		{"usage last", `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`,
			chunk{usage: usage{n32(9), n32(3), n32(4)}}, false},
		{"usage in every chunk", `{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`,
			chunk{choice: true, content: true, chars: 1, usage: usage{in: n32(9), out: n32(1)}}, false},
		{"error object", `{"error":{"message":"out of memory","type":"x"}}`, chunk{failed: true, message: "out of memory"}, false},
		{"error beside choices", `{"choices":[{"delta":{"content":"x"}}],"error":"bad"}`, chunk{choice: true, content: true, chars: 1, failed: true, message: "bad"}, false},
		{"vLLM's old error", `{"object":"error","message":"nope"}`, chunk{failed: true, message: "nope"}, false},
		{"two choices", `{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`, chunk{choice: true, content: true, chars: 2}, false},
		{"logprobs", `{"choices":[{"delta":{"content":"a"},"logprobs":{"content":[{"token":"a"}]}}]}`, chunk{choice: true, content: true, chars: 1}, false},
		{"a mock's stamp", `{"choices":[{"delta":{"content":"a"}}],"x_mock_send_ns":1796040000123456789}`, chunk{choice: true, content: true, chars: 1, far: 1796040000123456789}, true},
		{"a stamp elsewhere", `{"choices":[{"delta":{"content":"a"},"x_mock_send_ns":5}]}`, chunk{choice: true, content: true, chars: 1}, false},
		{"a stamp of text", `{"choices":[{"delta":{"content":"a"}}],"x_mock_send_ns":"5"}`, chunk{choice: true, content: true, chars: 1}, false},
		{"cut", `{"choices":[{"delta":{"content":"a"}}]`, chunk{invalid: true}, false},
		{"cut in text", `{"choices":[{"delta":{"content":"a}]}`, chunk{invalid: true}, false},
		{"not an object", `"x"`, chunk{invalid: true}, false},
		{"empty", ``, chunk{invalid: true}, false},
	} {
		got := parseChunk([]byte(c.data))
		got.choiceText, got.more = choiceText{}, nil // TestSaid
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if _, fast := scanChunk([]byte(c.data)); c.fast && !fast {
			t.Errorf("%s: not read by the scan", c.name)
		}
	}
}

// What an answer said is kept as it came, content, reasoning and calls apart, by
// either reader.
func TestSaid(t *testing.T) {
	for data, want := range map[string][3]string{
		plainChunk: {" hello"}, `{"choices":[{"delta":{"content":"a\"\u00e9"}}]}`: {`a\"\u00e9`},
		`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`:                                            {"", "hm"},
		`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}}]}}]}`:    {"", "", `f{\"a\":1}`},
		`{"choices":[{"message":{"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}}]}`: {"xy"},
		`{"choices":[{"text":"t"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`:                  {"t"},
		`{"choices":[{"delta":{"role":"assistant","content":""}}]}`:                                     {},
	} {
		for name, c := range map[string]chunk{"either": parseChunk([]byte(data)), "parser": readChunk([]byte(data))} {
			for i := range want {
				if string(c.said[i]) != want[i] {
					t.Errorf("%s, %s: part %d is %q, want %q", data, name, i, c.said[i], want[i])
				}
			}
		}
	}
}

// What several choices say is kept by choice, whether they come in one event or
// in events of their own.
func TestChoices(t *testing.T) {
	for data, want := range map[string][]choiceText{
		`{"choices":[{"index":1,"delta":{"content":"b"}}]}`:                                                {{1, [3][]byte{[]byte("b")}}},
		`{"choices":[{"text":"b","index":12}]}`:                                                            {{12, [3][]byte{[]byte("b")}}},
		`{"choices":[{"index":2,"delta":{"content":"a"}},{"index":0,"delta":{"reasoning":"b"}}]}`:          {{2, [3][]byte{[]byte("a")}}, {0, [3][]byte{nil, []byte("b")}}},
		`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":3,"delta":{"content":""}}]}`:             {{0, [3][]byte{[]byte("a")}}, {index: 3}},
		`{"choices":[{"index":0,"message":{"content":"a"}},{"index":1,"message":{"content":"b"}}],"x":{}}`: {{0, [3][]byte{[]byte("a")}}, {1, [3][]byte{[]byte("b")}}},
	} {
		for name, c := range map[string]chunk{"either": parseChunk([]byte(data)), "parser": readChunk([]byte(data))} {
			got := map[int32][3]string{}
			for _, x := range append(c.more, c.choiceText) {
				if s := [3]string{string(x.said[0]), string(x.said[1]), string(x.said[2])}; s != [3]string{} {
					got[x.index] = s
				}
			}
			for _, w := range want {
				if s := [3]string{string(w.said[0]), string(w.said[1]), string(w.said[2])}; got[w.index] != s {
					t.Errorf("%s, %s: choice %d said %q, want %q", data, name, w.index, got[w.index], s)
				}
				delete(got, w.index)
			}
			if len(got) > 0 {
				t.Errorf("%s, %s: also %v", data, name, got)
			}
		}
	}
}

// Where the scan is sure it says what the JSON parser says.
func FuzzChunk(f *testing.F) {
	f.Add(plainChunk)
	f.Add(`{"choices":[{"delta":{"content":"\\\"","reasoning":null}}],"x":null}`)
	f.Add(`{"choices":[{"text":"\ud83d\ude00"}]}`)
	f.Add(`{"choices":[{"delta":{"role":"a","content":"b"},"finish_reason":"stop"}],"error":{}}`)
	f.Fuzz(func(t *testing.T, data string) {
		got, sure := scanChunk([]byte(data))
		slow := readChunk([]byte(data))
		if sure && !slow.invalid && !odd(data) && !reflect.DeepEqual(got, slow) {
			t.Fatalf("scan %+v, parser %+v", got, slow)
		}
	})
}

// odd reports JSON in which keys lie where no server puts them: repeated, or a
// known key in a foreign place. Then the two readers may differ.
func odd(data string) bool {
	var v struct {
		Choices []struct {
			Delta map[string]json.RawMessage
		}
	}
	if json.Unmarshal([]byte(data), &v) != nil || len(v.Choices) != 1 {
		return true
	}
	canon, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": v.Choices[0].Delta}}})
	return err != nil || string(canon) != data
}

func FuzzChars(f *testing.F) {
	f.Add("a\"\\\n😀é\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := jsonChars(quoted[1 : len(quoted)-1]); int(got) != utf8.RuneCountInString(s) {
			t.Fatalf("%q: %d characters", quoted, got)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	stream := []byte("data: " + plainChunk + "\n\n")
	p := &Parser{On: func(_, data []byte) { parseChunk(data) }}
	if n := testing.AllocsPerRun(100, func() { p.Push(stream) }); n != 0 {
		t.Fatalf("%g allocations an event", n)
	}
}

func BenchmarkEvent(b *testing.B) {
	stream := []byte("data: " + plainChunk + "\n\n")
	p := &Parser{On: func(_, data []byte) { parseChunk(data) }}
	b.ReportAllocs()
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		p.Push(stream)
	}
}

func BenchmarkEventGeneral(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		readChunk([]byte(plainChunk))
	}
}
