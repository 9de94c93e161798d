package fit

import (
	"math/bits"
	"slices"
)

// Reuse is how far back the blocks that hit were last used, as the number of
// distinct blocks touched since: the stack distance of an LRU cache. A block
// hits in a cache of C blocks when its distance is below C.
type Reuse struct {
	BlockTokens int
	// Distance is that of the deepest block each request hits, −1 without hit.
	Distance []int32
	// RootDistance is that of its first block, −1 without hit.
	RootDistance []int32

	blocks  []int64 // hit blocks by distance
	short   []int64 // tokens that partial last blocks lack, by distance
	total   int64
	input   int64
	maximum int64 // hit blocks of an infinite cache
}

// StackDistances measures reuse with the order of touches of a real engine: at
// arrival the prompt is looked up, then all its blocks are touched from the last
// to the first, so that a prefix never leaves before what continues it.
func StackDistances(blocks [][]int32, input []int32, blockTokens int) (*Reuse, error) {
	ids, distinct, err := dense(blocks, input, blockTokens)
	if err != nil {
		return nil, err
	}
	r := &Reuse{BlockTokens: blockTokens, Distance: make([]int32, len(ids)), RootDistance: make([]int32, len(ids)),
		blocks: make([]int64, distinct), short: make([]int64, distinct)}
	stack := newRecency(distinct)
	for i, list := range ids {
		r.Distance[i], r.RootDistance[i] = -1, -1
		r.lookUp(stack, i, list, int64(input[i]))
		stack.touch(list)
		r.total += int64(len(list))
		r.input += int64(input[i])
	}
	return r, nil
}

// lookUp walks the leading blocks that were seen before. A block is served only
// when those before it are, so the distance never falls along the prompt.
func (r *Reuse) lookUp(s *recency, i int, list []int32, input int64) {
	var last, depth int32 // position of the block before, and blocks above it
	deepest := int32(-1)
	for j, id := range list {
		p := s.pos[id]
		if p < 0 {
			break
		}
		if j > 0 && p == last-1 {
			depth++ // neighbours: only the block before lies between
		} else {
			depth = s.above(p)
		}
		d := max(depth, deepest)
		last, deepest = p, d
		if j == 0 {
			r.RootDistance[i] = d
		}
		r.maximum++
		r.blocks[d]++
		if lack := int64(j+1)*int64(r.BlockTokens) - input; lack > 0 {
			r.short[d] += min(lack, int64(r.BlockTokens))
		}
	}
	r.Distance[i] = deepest
}

// CachePoint is the hit rate of an LRU cache of CapacityTokens. OfInfinite is
// the share of what an infinite cache hits, by blocks.
type CachePoint struct {
	CapacityTokens, CapacityBlocks int64
	HitBlocks, HitTokens           int64
	Blocks, Tokens, OfInfinite     Stat
}

// LRUCurve returns hit rates at capacities in tokens, in their order.
func (r *Reuse) LRUCurve(capacities []int64) []CachePoint {
	order := make([]int, len(capacities))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(capacities[a]-capacities[b], -1), 1)) })
	out := make([]CachePoint, len(capacities))
	var hit, lack int64
	d := 0
	for _, i := range order {
		c := capacities[i] / int64(r.BlockTokens)
		for ; d < len(r.blocks) && int64(d) < c; d++ {
			hit += r.blocks[d]
			lack += r.short[d]
		}
		tokens := hit*int64(r.BlockTokens) - lack
		out[i] = CachePoint{CapacityTokens: capacities[i], CapacityBlocks: c, HitBlocks: hit, HitTokens: tokens,
			Blocks: ratio(hit, r.total), Tokens: ratio(tokens, r.input), OfInfinite: ratio(hit, r.maximum)}
	}
	return out
}

// recency orders blocks by last touch: every touch takes the next position, and
// a bit says whether the position still is its block's last. Counts of 64
// positions each sit in a Fenwick tree, so a run of neighbours costs one step
// down the tree per 64.
type recency struct {
	pos   []int32 // last position of a block, −1 before its first touch
	owner []int32 // block at a position
	live  []uint64
	tree  []int32 // Fenwick tree over words of live
	next  int32
	alive int32
}

func newRecency(distinct int) *recency {
	s := &recency{pos: make([]int32, distinct)}
	for i := range s.pos {
		s.pos[i] = -1
	}
	s.resize(1 << 12)
	return s
}

// resize makes room for n positions, all empty.
func (s *recency) resize(n int) {
	words := (n + 63) / 64
	s.owner, s.live, s.tree = make([]int32, words*64), make([]uint64, words), make([]int32, words+1)
	s.next, s.alive = 0, 0
}

// touch makes every block of the list the most recent, the first one last.
func (s *recency) touch(list []int32) {
	if int(s.next)+len(list) > len(s.owner) {
		s.compact(len(list))
	}
	s.forget(list)
	var word, n int32
	for k := range list {
		id := list[len(list)-1-k]
		if s.pos[id] >= 0 {
			continue // the list names the block twice
		}
		p := s.next
		s.next++
		s.pos[id], s.owner[p] = p, id
		s.live[p>>6] |= 1 << (p & 63)
		if p>>6 != word {
			s.count(word, n)
			word, n = p>>6, 0
		}
		n++
		s.alive++
	}
	s.count(word, n)
}

// forget clears the positions of the list.
func (s *recency) forget(list []int32) {
	var word, n int32
	for _, id := range list {
		p := s.pos[id]
		if p < 0 {
			continue
		}
		s.pos[id] = -1
		s.live[p>>6] &^= 1 << (p & 63)
		if p>>6 != word {
			s.count(word, n)
			word, n = p>>6, 0
		}
		n--
		s.alive--
	}
	s.count(word, n)
}

// count adds n to a word in the tree.
func (s *recency) count(word, n int32) {
	if n == 0 {
		return
	}
	for i := word + 1; int(i) < len(s.tree); i += i & -i {
		s.tree[i] += n
	}
}

// above is the number of blocks touched after position p.
func (s *recency) above(p int32) int32 {
	upTo := int32(bits.OnesCount64(s.live[p>>6] << (63 - p&63)))
	for i := p >> 6; i > 0; i -= i & -i {
		upTo += s.tree[i]
	}
	return s.alive - upTo
}

// compact numbers the live positions anew from 0, with room for as many again
// and for one more list.
func (s *recency) compact(list int) {
	owner, live := s.owner, s.live
	s.resize(2*int(s.alive) + list + 1<<12)
	for w, word := range live {
		for ; word != 0; word &= word - 1 {
			id := owner[w*64+bits.TrailingZeros64(word)]
			s.pos[id], s.owner[s.next] = s.next, id
			s.live[s.next>>6] |= 1 << (s.next & 63)
			s.next++
		}
	}
	s.alive = s.next
	for w, word := range s.live {
		s.count(int32(w), int32(bits.OnesCount64(word)))
	}
}
