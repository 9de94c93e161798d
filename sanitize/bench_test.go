package sanitize

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"reprise/ingest"
	"reprise/trace/block"
)

// benchApply measures bytes of a log into a trace in memory.
func benchApply(b *testing.B, text []byte, rows int, tok Tokenizer) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		l, err := ingest.Open(context.Background(), ingest.Inputs{Stdin: bytes.NewReader(text)})
		if err != nil {
			b.Fatal(err)
		}
		tr, _ := loaded(b)(CollectLog(b.Context(), l, DefaultPolicy(), tok, block.NewKey(), Room{}))
		if len(tr.Requests) != rows {
			b.Fatal(len(tr.Requests))
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkAzure(b *testing.B) {
	var buf bytes.Buffer
	buf.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\r\n")
	const rows = 100_000
	for i := range rows {
		fmt.Fprintf(&buf, "2023-11-16 %02d:%02d:%02d.%07d,%d,%d\r\n", i/3600%24, i/60%60, i%60, i, i%4000+1, i%900+1)
	}
	benchApply(b, buf.Bytes(), rows, nil)
}

// chats is a log of conversations: rows of about 4 KB with prose in them and no
// usage, so that prompt and answer are both counted.
func chats(rows int) []byte {
	words := strings.Fields("the engine keeps a cache of prefixes so that requests which begin alike share the work of reading their first tokens and answer sooner than they would alone in an empty machine")
	prose := func(seed, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(words[(seed*31+i*i+i*seed)%len(words)])
			b.WriteByte(" .,\n"[min((seed+i)%9, 3)%4])
		}
		return b.String()
	}
	var buf bytes.Buffer
	for i := range rows {
		row := map[string]any{"timestamp": float64(i) / 10, "session_id": fmt.Sprint("s", i/8),
			"request": map[string]any{"model": "m", "messages": []any{map[string]any{"role": "system", "content": prose(1, 200)},
				map[string]any{"role": "user", "content": prose(i, 300)}}},
			"response": map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": prose(i+7, 150)}}}}, "status": 200}
		b, _ := json.Marshal(row)
		buf.Write(append(b, '\n'))
	}
	return buf.Bytes()
}

func BenchmarkChats(b *testing.B) {
	const rows = 2000
	text := chats(rows)
	b.Run("no_tokenizer", func(b *testing.B) { benchApply(b, text, rows, nil) })
	b.Run("o200k", func(b *testing.B) { benchApply(b, text, rows, open(b, "o200k_base")) })
}
