package fit

import (
	"fmt"
	"slices"

	"reprise/fit/dist"
)

// PrefixStats is what an infinite prefix cache would hit: requests in order of
// arrival, the whole prompt stored at arrival, answers never. A hit is the
// leading run of blocks that came before; its tokens are at most the input.
//
// The Full fields count whole blocks only, as engines do: a partial last block
// can neither hit nor be stored.
type PrefixStats struct {
	Requests    int64
	BlockTokens int

	TotalBlocks, DistinctBlocks, HitBlocks int64
	InputTokens, HitTokens                 int64
	FullBlocks, FullHitBlocks              int64

	AnyHit      Stat // share of requests that hit a block
	TwoBlocks   Stat // share that hit two or more
	WholeInput  Stat // share whose whole input hits
	MeanRatio   Stat // mean over requests of hit tokens over input tokens
	MedianRatio Stat

	// Inconsistent counts blocks that follow another block than the first time.
	// Above zero, the ids are not chained and the numbers do not hold.
	Inconsistent int64

	// Hits is the number of leading blocks that each request hits.
	Hits []int32
}

// HitRate is a hit rate that names what it divides by; rates with different
// denominators do not compare.
type HitRate struct {
	Name, Denominator string
	Value             Stat
}

// Prefix measures sharing: blocks[i] are the chained blocks of the i-th request
// and input[i] its tokens.
func Prefix(blocks [][]int32, input []int32, blockTokens int) (PrefixStats, error) {
	ids, distinct, err := dense(blocks, input, blockTokens)
	if err != nil {
		return PrefixStats{}, err
	}
	s := PrefixStats{Requests: int64(len(blocks)), BlockTokens: blockTokens,
		DistinctBlocks: int64(distinct), Hits: make([]int32, len(blocks))}
	before := make([]int32, distinct) // predecessor+2 of a block, 0 when not yet seen
	var hits hitShares
	for i, list := range ids {
		h := 0
		for h < len(list) && before[list[h]] != 0 {
			h++
		}
		s.Inconsistent += chain(before, list)
		s.add(&hits, i, h, len(list), int64(input[i]))
	}
	hits.finish(&s)
	return s, nil
}

// add counts the i-th request, which hits h of its n blocks.
func (s *PrefixStats) add(hits *hitShares, i, h, n int, input int64) {
	b := int64(s.BlockTokens)
	full := min(input/b, int64(n))
	tokens := min(b*int64(h), input)
	s.Hits[i] = int32(h)
	s.TotalBlocks += int64(n)
	s.HitBlocks += int64(h)
	s.InputTokens += input
	s.HitTokens += tokens
	s.FullBlocks += full
	s.FullHitBlocks += min(int64(h), full)
	hits.add(h, tokens, input)
}

// chain records the predecessors of a list and counts those that differ from
// the ones on record.
func chain(before, list []int32) (wrong int64) {
	prev := int32(1)
	for _, id := range list {
		if before[id] == 0 {
			before[id] = prev
		} else if before[id] != prev {
			wrong++
		}
		prev = id + 2
	}
	return wrong
}

// hitShares collects what is counted by request.
type hitShares struct {
	any, two, whole int64
	ratios          []float64
}

func (h *hitShares) add(blocks int, tokens, input int64) {
	if blocks > 0 {
		h.any++
	}
	if blocks > 1 {
		h.two++
	}
	if input == 0 {
		return
	}
	if tokens == input {
		h.whole++
	}
	h.ratios = append(h.ratios, float64(tokens)/float64(input))
}

func (h *hitShares) finish(s *PrefixStats) {
	s.AnyHit, s.TwoBlocks = ratio(h.any, s.Requests), ratio(h.two, s.Requests)
	s.WholeInput = ratio(h.whole, s.Requests)
	s.MeanRatio, s.MedianRatio = absent("no request has input"), absent("no request has input")
	if len(h.ratios) > 0 {
		v := dist.NewValues(h.ratios)
		s.MeanRatio, s.MedianRatio = value(v.Mean()), value(v.Quantile(0.5))
	}
}

func ratio(part, of int64) Stat {
	if of == 0 {
		return absent("nothing to divide by")
	}
	return value(float64(part) / float64(of))
}

// Rates returns the hit rates with their denominators; tokens first, the one to
// quote.
func (s PrefixStats) Rates() []HitRate {
	return []HitRate{
		{"tokens", "input tokens", ratio(s.HitTokens, s.InputTokens)},
		{"blocks", "blocks, partial last ones included", ratio(s.HitBlocks, s.TotalBlocks)},
		{"full_blocks", "whole blocks", ratio(s.FullHitBlocks, s.FullBlocks)},
		{"full_block_tokens", "input tokens", ratio(s.FullHitBlocks*int64(s.BlockTokens), s.InputTokens)},
		{"mean_of_requests", "requests, each with its own ratio of tokens", s.MeanRatio},
	}
}

// dense checks its arguments and returns the blocks numbered below distinct. The
// lists are shared with the caller where they are numbered so already.
func dense(blocks [][]int32, input []int32, blockTokens int) (ids [][]int32, distinct int, err error) {
	if len(blocks) != len(input) {
		return nil, 0, fmt.Errorf("%d block lists for %d input lengths; give one each", len(blocks), len(input))
	}
	if blockTokens < 1 {
		return nil, 0, fmt.Errorf("a block of %d tokens; give at least 1", blockTokens)
	}
	if i := slices.IndexFunc(input, func(n int32) bool { return n < 0 }); i >= 0 {
		return nil, 0, fmt.Errorf("request %d has an input below zero", i)
	}
	ids, distinct = renumber(blocks)
	return ids, distinct, nil
}

// renumber returns the lists with ids by first appearance.
func renumber(blocks [][]int32) ([][]int32, int) {
	if next, ok := appearing(blocks); ok {
		return blocks, next
	}
	number := map[int32]int32{}
	out := make([][]int32, len(blocks))
	for i, list := range blocks {
		out[i] = make([]int32, len(list))
		for j, id := range list {
			n, ok := number[id]
			if !ok {
				n = int32(len(number))
				number[id] = n
			}
			out[i][j] = n
		}
	}
	return out, len(number)
}

// appearing reports whether ids are numbered by first appearance already.
func appearing(blocks [][]int32) (next int, ok bool) {
	for _, list := range blocks {
		for _, id := range list {
			if id < 0 || int(id) > next {
				return 0, false
			}
			if int(id) == next {
				next++
			}
		}
	}
	return next, true
}
