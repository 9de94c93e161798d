package main

import (
	"bufio"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"reprise/trace"
)

const (
	blockTokens = 512
	perSecond   = 24 // Mooncake's hour has 12,031 requests, a busy day 87,000 in one
)

// write makes a trace of n requests.
func write(path string, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	h := trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: blockTokens, Tail: trace.TailFresh,
		Tool: trace.Tool{Name: "bigplan"}, Profile: "local", Counts: trace.Counts{Read: int64(n), Kept: int64(n)},
		Time: trace.Time{ResolutionUS: 1000, Calendar: trace.CalendarNone}}
	if err := trace.Write(w, h, requests(n)); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// requests draws prompts of lognormal length; every second one has the blocks
// of one of the last thousand conversations in front.
func requests(n int) func(func(trace.Request, error) bool) {
	return func(yield func(trace.Request, error) bool) {
		rng := rand.New(rand.NewPCG(1, 5))
		next := int32(0)
		var open [][]int32
		at := 0.0
		for i := range n {
			input := int32(min(math.Exp(8.4+1.1*rng.NormFloat64()), 120_000)) + 16
			var blocks []int32
			if len(open) > 0 && rng.IntN(2) == 0 {
				blocks = slices.Clone(open[rng.IntN(len(open))])
				input += int32(len(blocks) * blockTokens)
			}
			input = min(input, 128_000)
			blocks = blocks[:min(len(blocks), int(input/blockTokens))]
			for len(blocks) < int(input/blockTokens) {
				blocks = append(blocks, next)
				next++
			}
			keep := slices.Clone(blocks)
			if input%blockTokens != 0 {
				blocks = append(blocks, next)
				next++
			}
			if len(open) < 1000 {
				open = append(open, keep)
			} else {
				open[rng.IntN(len(open))] = keep
			}
			r := trace.Request{ID: int64(i), T: trace.Some(int64(at) * 1000), API: trace.Completions, Model: "m1", Blocks: blocks,
				Input: trace.Some(input), Output: trace.Some(int32(min(math.Exp(5+rng.NormFloat64()), 2000)) + 2), From: trace.Counted, N: 1}
			if !yield(r, nil) {
				return
			}
			at += rng.ExpFloat64() * 1000 / perSecond
		}
	}
}
