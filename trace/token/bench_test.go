package token

import (
	"strings"
	"testing"
)

// BenchmarkEncode runs both implementations over the same text, so that their
// ratio can be read from one run.
func BenchmarkEncode(b *testing.B) {
	text := Repair(strings.Join(corpus(b), "\n"))
	for _, p := range both(b) {
		b.Run(p.own.Name()+"/own", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var ids []int32
			for b.Loop() {
				ids = p.own.Encode(ids[:0], text)
			}
		})
		b.Run(p.own.Name()+"/tiktoken-go", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				p.ref.EncodeOrdinary(text)
			}
		})
	}
}

// BenchmarkRun is the worst case: one unbroken run of a megabyte.
func BenchmarkRun(b *testing.B) {
	text := strings.Repeat("a", 1<<20)
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tok.Count(text)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Open(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
