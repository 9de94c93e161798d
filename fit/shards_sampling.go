package fit

import (
	"math"

	"reprise/fit/dist"
)

// SampledReuse estimates the curve of an LRU cache from a part of the blocks,
// chosen by a hash of their ids, so that all uses of a chosen block are seen
// (SHARDS; Waldspurger et al., FAST'15). Distances between them are those of all
// blocks times the rate. What an infinite cache hits is counted over all blocks,
// and the difference from what the sample makes of it is put at distance zero,
// since it comes from few blocks that are used all the time (SHARDS-adj there).
//
// The chosen blocks fall into groups that are each a sample of its own; their
// spread gives the error.
type SampledReuse struct {
	blockTokens int64
	threshold   uint64 // of hashes, below which a block is chosen
	rate        float64
	number      map[int64]int32
	group       []uint8 // by number
	refs        []int32 // chosen blocks by request, one after another
	tokens      []int32 // that each stands for
	ends        []int   // of requests with chosen blocks, in refs
	total       int64   // blocks
	input       int64   // tokens
	hits        int64   // blocks of an infinite cache
	hitTokens   int64
}

// sampleGroups is the number of groups, and spreadFactor Student's t of 95 % for
// it (two-sided, 7 degrees of freedom).
const (
	sampleGroups = 8
	spreadFactor = 2.365
)

// NewSampledReuse chooses about the given share of the blocks; from 1 on, all.
func NewSampledReuse(rate float64, blockTokens int) *SampledReuse {
	s := &SampledReuse{blockTokens: int64(max(blockTokens, 1)), threshold: math.MaxUint64, rate: 1, number: map[int64]int32{}}
	if rate < 1 {
		s.rate = max(rate, 1e-6)
		s.threshold = uint64(s.rate * math.MaxUint64)
	}
	return s
}

// Add takes the next prompt: its blocks, its tokens, and how many of its leading
// blocks earlier prompts had. base tells blocks of the same id apart that come
// from different traces.
func (s *SampledReuse) Add(blocks []int32, input int32, hits int, base int64) {
	s.total += int64(len(blocks))
	s.input += int64(input)
	s.hits += int64(hits)
	s.hitTokens += min(int64(hits)*s.blockTokens, int64(input))
	from := len(s.refs)
	for j, id := range blocks {
		key := base + int64(id)
		h := mix(uint64(key))
		if h > s.threshold {
			continue
		}
		n, ok := s.number[key]
		if !ok {
			n = int32(len(s.number))
			s.number[key] = n
			s.group = append(s.group, uint8(h%sampleGroups))
		}
		left := int64(input) - int64(j)*s.blockTokens
		s.refs, s.tokens = append(s.refs, n), append(s.tokens, int32(max(min(left, s.blockTokens), 0)))
	}
	if len(s.refs) > from {
		s.ends = append(s.ends, len(s.refs))
	}
}

// mix spreads ids over 64 bits (the finalizer of SplitMix64; Steele, Lea and
// Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// SampledPoint is a point of the curve; the errors are half the width of its
// 95 % interval, in the unit of the rate.
type SampledPoint struct {
	CapacityTokens           int64
	Tokens, Blocks           float64
	TokensError, BlocksError float64
}

// Rate is the share of the blocks that are chosen.
func (s *SampledReuse) Rate() float64 { return s.rate }

// Curve estimates hit rates at ascending capacities in tokens; nil where there
// is nothing to divide by.
func (s *SampledReuse) Curve(capacities []int64) []SampledPoint {
	if s.total == 0 || s.input == 0 {
		return nil
	}
	tokens, blocks := s.run(-1, capacities)
	out := make([]SampledPoint, len(capacities))
	for i, c := range capacities {
		out[i] = SampledPoint{CapacityTokens: c, Tokens: tokens[i], Blocks: blocks[i]}
	}
	if s.rate >= 1 {
		return out
	}
	bySample := make([][2][]float64, len(capacities))
	for g := range sampleGroups {
		t, b := s.run(g, capacities)
		for i := range capacities {
			bySample[i][0], bySample[i][1] = append(bySample[i][0], t[i]), append(bySample[i][1], b[i])
		}
	}
	for i := range out {
		out[i].TokensError, out[i].BlocksError = halfWidth(bySample[i][0]), halfWidth(bySample[i][1])
	}
	return out
}

// halfWidth is that of the 95 % interval of the mean of the groups.
func halfWidth(x []float64) float64 {
	return spreadFactor * dist.NewValues(x).SD() / math.Sqrt(float64(len(x)))
}

// run measures one group, or all of them with −1, as a trace of its own.
func (s *SampledReuse) run(group int, capacities []int64) (tokens, blocks []float64) {
	rate := s.rate
	if group >= 0 {
		rate /= sampleGroups
	}
	limits := make([]float64, len(capacities)) // in chosen blocks
	for i, c := range capacities {
		limits[i] = float64(float64(c/s.blockTokens) * rate)
	}
	hitBlocks, hitTokens := make([]int64, len(limits)+1), make([]int64, len(limits)+1)
	stack := newRecency(len(s.number))
	var list []int32
	from := 0
	for _, to := range s.ends {
		list = list[:0]
		deepest, leading := int32(-1), true
		for k, n := range s.refs[from:to] {
			if group >= 0 && int(s.group[n]) != group {
				continue
			}
			list = append(list, n)
			p := stack.pos[n]
			if leading = leading && p >= 0; !leading {
				continue
			}
			deepest = max(deepest, stack.above(p))
			i := bucket(limits, float64(deepest))
			hitBlocks[i]++
			hitTokens[i] += int64(s.tokens[from+k])
		}
		stack.touch(list)
		from = to
	}
	return s.rates(hitTokens, rate, s.hitTokens, s.input, limits), s.rates(hitBlocks, rate, s.hits, s.total, limits)
}

// bucket is the first capacity that holds a block at a distance. A distance
// among chosen blocks stands for those from d/rate on, so its middle counts.
func bucket(limits []float64, d float64) int {
	i := 0
	for i < len(limits) && d+0.5 > limits[i] {
		i++
	}
	return i
}

// rates adds up hits by capacity; what the sample lacks of all hits, or has too
// much, is at distance zero.
func (s *SampledReuse) rates(hits []int64, rate float64, all, of int64, limits []float64) []float64 {
	var sampled int64
	for _, n := range hits {
		sampled += n
	}
	rest := float64(all) - float64(sampled)/rate
	out := make([]float64, len(limits))
	var sum int64
	for i := range limits {
		sum += hits[i]
		at := float64(sum)/rate + rest
		out[i] = min(max(at, 0), float64(all)) / float64(of)
	}
	return out
}
