package ingest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		if _, err := Open(b.Context(), Inputs{Stdin: strings.NewReader("input_tokens,output_tokens\n1,2\n")}); err != nil {
			b.Fatal(err)
		}
	}
}

// benchLog measures the reading of a log into records.
func benchLog(b *testing.B, text []byte, rows int) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		l, err := Open(b.Context(), Inputs{Stdin: bytes.NewReader(text)})
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
		if n != rows {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// Azure's shape: three short columns.
func BenchmarkCSV(b *testing.B) {
	var buf bytes.Buffer
	buf.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\r\n")
	const rows = 200_000
	for i := range rows {
		fmt.Fprintf(&buf, "2023-11-16 %02d:%02d:%02d.%07d,%d,%d\r\n", i/3600%24, i/60%60, i%60, i, i%4000+1, i%900+1)
	}
	benchLog(b, buf.Bytes(), rows)
}

// OpenAI's shape: 3.6 KB a row, prompt and answer in it.
func BenchmarkJSONL(b *testing.B) {
	const rows = 10_000
	benchLog(b, bytes.Repeat(append(benchRow(), '\n'), rows), rows)
}
