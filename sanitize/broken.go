package sanitize

import (
	"slices"

	"reprise/trace"
)

// What counts as a broken prefix.
const (
	leastPrompts  = 50   // in the sample, to tell anything
	commonPart    = 0.1  // of the sample that has a mark makes it common
	leastStretch  = 128  // tokens in common
	longestField  = 256  // tokens from where prompts part to the stretch
	leastAffected = 0.25 // of the sample
)

// broken tells whether prompts share a long stretch that stands behind a field
// that changes, and what would be shared without it; nil where none does.
func (s *sampler) broken() *trace.BrokenPrefix {
	if len(s.kept) < leastPrompts {
		return nil
	}
	common, shared := s.common(), s.shared()
	var at, would []int
	for i := range s.kept {
		from, to := s.kept[i].stretch(common)
		n := to - from
		if n < leastStretch || shared[i] >= from+n/4 || from-shared[i] > longestField {
			continue
		}
		at, would = append(at, shared[i]), append(would, shared[i]+n)
	}
	share := float64(len(at)) / float64(len(s.kept))
	if share < leastAffected {
		return nil
	}
	return &trace.BrokenPrefix{Prompts: s.seen, Sampled: int64(len(s.kept)), Share: share,
		Now: median(shared), Would: median(would), At: median(at)}
}

func median(x []int) int64 {
	x = slices.Sorted(slices.Values(x))
	return int64(x[(len(x)-1)/2])
}

// common are the marks that commonPart of the prompts have.
func (s *sampler) common() map[uint64]bool {
	count := map[uint64]int{}
	for i := range s.kept {
		once := map[uint64]bool{}
		for _, w := range s.kept[i].windows {
			if !once[w.digest] {
				once[w.digest] = true
				count[w.digest]++
			}
		}
	}
	out := map[uint64]bool{}
	for d, n := range count {
		if float64(n) >= commonPart*float64(len(s.kept)) {
			out[d] = true
		}
	}
	return out
}

// stretch is the longest run of common marks, as tokens [from, to).
func (m *marks) stretch(common map[uint64]bool) (from, to int) {
	a, b := 0, 0
	for _, w := range m.windows {
		if !common[w.digest] {
			continue
		}
		at := int(w.at)
		if b == 0 || at > b+markEvery {
			a = at
		}
		b = at + markWidth
		if b-a > to-from {
			from, to = a, b
		}
	}
	return from, to
}

// shared is, by prompt, how many tokens it has in common with the one of the
// sample that it has most in common with: sorted by their beginnings, that one is
// a neighbour.
func (s *sampler) shared() []int {
	order := make([]int, len(s.kept))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(s.kept[a].lead, s.kept[b].lead) })
	out := make([]int, len(order))
	for k := 1; k < len(order); k++ {
		a, b := s.kept[order[k-1]].lead, s.kept[order[k]].lead
		n := 0
		for n < len(a) && n < len(b) && a[n] == b[n] {
			n++
		}
		for _, i := range order[k-1 : k+1] {
			out[i] = max(out[i], leadAt(n))
		}
	}
	return out
}
