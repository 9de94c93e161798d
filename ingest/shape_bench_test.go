package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// benchShape reads a log of the text again and again.
func benchShape(b *testing.B, text []byte, want string) {
	known, err := schemas()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		in := Inputs{Paths: []string{"-"}, Stdin: bytes.NewReader(text)}
		l, err := openAs(context.Background(), in, known)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, err := range l.Records() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if l.Schema().Name != want || n == 0 {
			b.Fatal(l.Schema().Name, n)
		}
	}
}

const benchText = "The tide rises twice a day, and twice it falls; it's the moon that pulls. "

// Prompts of 2 KB in Python's notation, lines of statistics between.
func BenchmarkVLLMLog(b *testing.B) {
	var t strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&t, "INFO 03-02 14:%02d:11 [logger.py:43] Received request chatcmpl-%d: prompt: \"%s\", params: SamplingParams(n=1, presence_penalty=0.0, temperature=0.7, stop=[], max_tokens=100), prompt_token_ids: None, lora_request: None, prompt_adapter_request: None.\n", i/100, i, strings.Repeat(benchText, 27))
		fmt.Fprintf(&t, "INFO 03-02 14:%02d:12 [async_llm.py:270] Added request chatcmpl-%d.\nINFO 03-02 14:%02d:12 [loggers.py:118] Engine 000: Avg prompt throughput: 4.1 tokens/s\n", i/100, i, i/100)
	}
	benchShape(b, []byte(t.String()), "vllm_log")
}

// Two events a request, 2 KB of prompt in both.
func BenchmarkSGLangJSON(b *testing.B) {
	var t bytes.Buffer
	text := strings.Repeat(benchText, 27)
	for i := range 2000 {
		for k, event := range []string{"request.received", "request.finished"} {
			row, _ := json.Marshal(map[string]any{"timestamp": fmt.Sprintf("2026-03-02T14:%02d:11.%06d", i/100, i*400+k), "event": event, "rid": fmt.Sprint(i),
				"obj": map[string]any{"text": text, "stream": true}, "out": map[string]any{"text": benchText, "meta_info": map[string]any{"prompt_tokens": 500, "completion_tokens": 20}}})
			t.Write(append(row, '\n'))
		}
	}
	benchShape(b, t.Bytes(), "sglang_json")
}

// Sessions of 100 calls, each with a tool's result of 1 KB before it.
func BenchmarkClaudeCode(b *testing.B) {
	var t bytes.Buffer
	for s := range 10 {
		for i := range 100 {
			fmt.Fprintf(&t, `{"type":"user","sessionId":"s%d","timestamp":"2026-03-02T14:%02d:11Z","message":{"role":"user","content":[{"type":"tool_result","content":%q}]}}`+"\n", s, i%60, strings.Repeat(benchText, 13))
			fmt.Fprintf(&t, `{"type":"assistant","sessionId":"s%d","requestId":"r","timestamp":"2026-03-02T14:%02d:15Z","message":{"role":"assistant","id":"m%d-%d","content":[{"type":"text","text":%q}],"usage":{"input_tokens":5,"output_tokens":9}}}`+"\n", s, i%60, s, i, benchText)
		}
	}
	benchShape(b, t.Bytes(), "claude_code")
}

// Conversations of four questions and answers.
func BenchmarkShareGPT(b *testing.B) {
	var rows []any
	for i := range 2000 {
		var c []any
		for range 4 {
			c = append(c, map[string]string{"from": "human", "value": benchText}, map[string]string{"from": "gpt", "value": strings.Repeat(benchText, 8)})
		}
		rows = append(rows, map[string]any{"id": fmt.Sprint(i), "conversations": c})
	}
	text, _ := json.Marshal(rows)
	benchShape(b, text, "sharegpt")
}
