package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"reprise/trace"
)

// load is the trace, in our form and in Mooncake's, which the peers read.
type load struct {
	rows         []request
	trace, jsonl string
}

type request struct {
	ms     int64
	output int32
}

const input = 32 // tokens of a prompt

// newLoad draws n instants over a time and writes both files.
func newLoad(dir string, n int, over time.Duration) (*load, error) {
	w := &load{trace: filepath.Join(dir, "load.trace.parquet"), jsonl: filepath.Join(dir, "load.jsonl")}
	rng := rand.New(rand.NewPCG(1, 3))
	at, mean := 0.0, float64(over.Milliseconds())/float64(n)
	for i := range n {
		w.rows = append(w.rows, request{int64(at), int32(50 + i%100)})
		at += rng.ExpFloat64() * mean
	}
	if err := w.writeTrace(); err != nil {
		return nil, err
	}
	return w, w.writeJSONL()
}

func (w *load) writeTrace() error {
	f, err := os.Create(w.trace)
	if err != nil {
		return err
	}
	defer f.Close()
	n := int64(len(w.rows))
	h := trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh,
		Tool: trace.Tool{Name: "lateness"}, Profile: "local", Counts: trace.Counts{Read: n, Kept: n},
		Time: trace.Time{ResolutionUS: 1000, Calendar: trace.CalendarNone}}
	rows := func(yield func(trace.Request, error) bool) {
		for i, r := range w.rows {
			if !yield(trace.Request{ID: int64(i), T: trace.Some(r.ms * 1000), API: trace.Completions, Model: "m1",
				Input: trace.Some[int32](input), Output: trace.Some(r.output), From: trace.Counted, N: 1}, nil) {
				return
			}
		}
	}
	if err := trace.Write(f, h, rows); err != nil {
		return err
	}
	return f.Close()
}

func (w *load) writeJSONL() error {
	f, err := os.Create(w.jsonl)
	if err != nil {
		return err
	}
	defer f.Close()
	b := bufio.NewWriter(f)
	for i, r := range w.rows {
		fmt.Fprintf(b, `{"timestamp":%d,"input_length":%d,"output_length":%d,"hash_ids":[%d]}`+"\n", r.ms, input, r.output, i)
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return f.Close()
}
