package ingest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/valyala/fastjson"
)

// benchRow is an OpenAI-shaped row with a 2 KB prompt and a 1 KB answer.
func benchRow() []byte {
	return []byte(`{"timestamp":"2026-03-02T14:05:12.003Z","session_id":"s1","request":{"model":"m","stream":true,"max_tokens":100,"messages":[{"role":"system","content":"` +
		strings.Repeat("you are \\\"kind\\\" and brief. ", 40) + `"},{"role":"user","content":"` + strings.Repeat("tell me more\\n", 80) +
		`"}]},"response":{"id":"x","choices":[{"message":{"role":"assistant","content":"` + strings.Repeat("a word or two ", 70) +
		`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":500,"completion_tokens":210,"prompt_tokens_details":{"cached_tokens":0}}},"status":200,"latency_ms":52.5}`)
}

// The choice of decoder: the fields that a Record needs out of one row.
func BenchmarkDecoders(b *testing.B) {
	row := benchRow()
	b.Run("encoding_json", func(b *testing.B) {
		b.SetBytes(int64(len(row)))
		b.ReportAllocs()
		for b.Loop() {
			var v struct {
				Timestamp string
				Request   struct {
					Model    string
					Messages []struct{ Role, Content string }
				}
				Response struct {
					Choices []struct {
						Message struct{ Content string }
					}
					Usage struct{ Prompt_tokens, Completion_tokens int }
				}
			}
			d := json.NewDecoder(bytes.NewReader(row))
			if d.Decode(&v) != nil || v.Response.Usage.Prompt_tokens != 500 {
				b.Fatal("not decoded")
			}
		}
	})
	b.Run("gjson", func(b *testing.B) {
		b.SetBytes(int64(len(row)))
		b.ReportAllocs()
		for b.Loop() {
			if !gjson.ValidBytes(row) {
				b.Fatal("not valid")
			}
			r := gjson.GetManyBytes(row, "timestamp", "session_id", "request.model", "request.stream", "request.max_tokens",
				"request.messages", "response.choices", "response.usage.prompt_tokens", "response.usage.completion_tokens", "status", "latency_ms")
			n := 0
			r[5].ForEach(func(_, m gjson.Result) bool {
				n += len(m.Get("role").String()) + len(m.Get("content").String())
				return true
			})
			n += len(r[6].Get("0.message.content").String())
			if r[7].Int() != 500 || n == 0 {
				b.Fatal("not decoded")
			}
		}
	})
	b.Run("fastjson", func(b *testing.B) {
		b.SetBytes(int64(len(row)))
		b.ReportAllocs()
		var p fastjson.Parser
		for b.Loop() {
			v, err := p.ParseBytes(row)
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for _, m := range v.GetArray("request", "messages") {
				n += len(string(m.GetStringBytes("role"))) + len(string(m.GetStringBytes("content")))
			}
			n += len(string(v.GetStringBytes("response", "choices", "0", "message", "content")))
			n += len(string(v.GetStringBytes("timestamp"))) + len(string(v.GetStringBytes("request", "model")))
			if v.GetInt("response", "usage", "prompt_tokens") != 500 || n == 0 {
				b.Fatal("not decoded")
			}
		}
	})
}
