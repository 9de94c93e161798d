package fit

import (
	"cmp"
	"slices"

	"reprise/fit/dist"
)

// Root is a shared beginning: Tokens of it (whole blocks) begin the prompts of N
// requests, which is Share of all.
type Root struct {
	Tokens int64
	N      int64
	Share  float64
}

// branches is the part of a beginning's requests below which its longest
// continuation counts as another beginning.
const branches = 0.9

// Roots lists the beginnings that at least minShare of the requests carry, most
// shared first: a chain of blocks is as long as nine of ten of its requests go
// on with it; where they part, the chain ends and a longer one may follow.
func Roots(blocks [][]int32, blockTokens int, minShare float64) []Root {
	ids, distinct := renumber(blocks)
	nodes := make([]node, distinct)
	for _, list := range ids {
		prev := int32(-1)
		for j, id := range list {
			if nodes[id].refs == 0 {
				nodes[id].parent, nodes[id].depth = prev, int32(j+1)
			}
			nodes[id].refs++
			prev = id
		}
	}
	for _, n := range nodes {
		if n.parent >= 0 {
			p := &nodes[n.parent]
			p.child = max(p.child, n.refs)
		}
	}
	var out []Root
	for _, n := range nodes {
		share := float64(n.refs) / float64(len(blocks))
		if n.refs > 1 && share >= minShare && float64(n.child) < float64(branches*float64(n.refs)) {
			out = append(out, Root{int64(n.depth) * int64(blockTokens), n.refs, share})
		}
	}
	slices.SortStableFunc(out, func(a, b Root) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(b.Tokens, a.Tokens))
	})
	return out
}

// node is a block in the trie of prompts; child is how many requests its most
// common continuation has.
type node struct {
	refs, child   int64
	parent, depth int32
}

// SharingStats says how unevenly blocks are shared. A reuse is a reference to a
// block beyond its first.
type SharingStats struct {
	FirstBlocks     int64 // distinct
	TopFirst        []BlockCount
	ShareFirst      Stat // requests whose first block another one has too
	TopFirstShare   Stat // requests that begin with the most common first block
	UsedOnce        int64
	UsedOnceShare   Stat
	MaxRefs         int64
	Top1PctReuses   Stat // share of reuses that the most used 1 % of blocks have
	Top10PctReuses  Stat
	DistinctOfTotal Stat
}

// BlockCount is a block and how many requests begin with it.
type BlockCount struct {
	Block int32
	N     int64
}

// Sharing counts references to blocks.
func Sharing(blocks [][]int32) SharingStats {
	ids, distinct := renumber(blocks)
	refs, first := make([]int64, distinct), make([]int64, distinct)
	var total int64
	for _, list := range ids {
		for _, id := range list {
			refs[id]++
		}
		total += int64(len(list))
		if len(list) > 0 {
			first[list[0]]++
		}
	}
	var s SharingStats
	s.firsts(first, int64(len(blocks)))
	slices.SortFunc(refs, func(a, b int64) int { return cmp.Compare(b, a) })
	for _, r := range refs {
		s.MaxRefs = max(s.MaxRefs, r)
		if r == 1 {
			s.UsedOnce++
		}
	}
	s.UsedOnceShare = ratio(s.UsedOnce, int64(distinct))
	s.DistinctOfTotal = ratio(int64(distinct), total)
	s.Top1PctReuses = topReuses(refs, distinct/100, total-int64(distinct))
	s.Top10PctReuses = topReuses(refs, distinct/10, total-int64(distinct))
	return s
}

// firsts fills in what first blocks say.
func (s *SharingStats) firsts(first []int64, requests int64) {
	var top []BlockCount
	var shared int64
	for id, n := range first {
		if n > 0 {
			top = append(top, BlockCount{int32(id), n})
		}
		if n > 1 {
			shared += n
		}
	}
	slices.SortStableFunc(top, func(a, b BlockCount) int { return cmp.Compare(b.N, a.N) })
	s.FirstBlocks = int64(len(top))
	s.TopFirst = slices.Clone(top[:min(5, len(top))])
	s.ShareFirst, s.TopFirstShare = ratio(shared, requests), absent("no request has a block")
	if len(top) > 0 {
		s.TopFirstShare = ratio(top[0].N, requests)
	}
}

// topReuses is the share of reuses that the first k of the descending refs have.
func topReuses(refs []int64, k int, reuses int64) Stat {
	var sum int64
	for _, r := range refs[:k] {
		sum += r - 1
	}
	return ratio(sum, reuses)
}

// ReuseTimes returns the time (s) since the previous use of a block, over all
// uses beyond the first, hits or not. times are µs and ascend.
func ReuseTimes(blocks [][]int32, times []int64) dist.Values {
	ids, distinct := renumber(blocks)
	last := make([]int64, distinct)
	for i := range last {
		last[i] = -1
	}
	count := map[int64]int64{}
	for i, list := range ids {
		if i >= len(times) {
			break
		}
		for _, id := range list {
			if j := last[id]; j >= 0 {
				count[times[i]-times[j]]++
			}
			last[id] = int64(i)
		}
	}
	return dist.FromCounts(count, second)
}
