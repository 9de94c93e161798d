package sanitize

import (
	"cmp"
	"math"
	"slices"

	"reprise/trace"
)

// What counts as a broken prefix.
const (
	leastPrompts  = 50  // in the sample, to tell anything
	commonPart    = 0.1 // of the sample that has a mark makes it common
	leastStretch  = 128 // tokens in common
	leastMore     = 4   // of what is shared now, one part in so many
	longestField  = 256 // tokens from where prompts part to the stretch
	leastAffected = 0.1 // of the sample: those of one kind
	fewestOfKind  = 12  // prompts
)

// parting is a prompt of the sample that does not share a long stretch, since a
// field that changes stands before it.
type parting struct {
	prompt int // in the sample
	shared int // tokens, with the prompt it has most in common with
	long   int // tokens of the stretch
	at     int // token at which its field begins
}

// broken tells whether prompts share long stretches that stand behind fields
// that change, and what would be shared without them. Each stretch, and each
// place of a field before it, is told for itself; a prompt counts for one of
// them, by its longest stretch. What would save most comes first.
func (s *sampler) broken() []trace.BrokenPrefix {
	if len(s.kept) < leastPrompts {
		return nil
	}
	var out []trace.BrokenPrefix
	for _, same := range s.stretches() {
		s.fields(same)
		for _, kind := range places(same) {
			if len(kind) >= s.leastOfKind() {
				out = append(out, s.told(kind))
			}
		}
	}
	saves := func(b trace.BrokenPrefix) float64 { return float64(b.Share) * float64(b.Would-b.Now) }
	slices.SortStableFunc(out, func(a, b trace.BrokenPrefix) int {
		return cmp.Or(cmp.Compare(saves(b), saves(a)), cmp.Compare(a.At, b.At))
	})
	return out
}

// leastOfKind is how many prompts of the sample make one kind.
func (s *sampler) leastOfKind() int {
	return max(int(math.Ceil(leastAffected*float64(len(s.kept)))), fewestOfKind)
}

// told describes prompts of one kind.
func (s *sampler) told(kind []parting) trace.BrokenPrefix {
	at, now, would := make([]int, len(kind)), make([]int, len(kind)), make([]int, len(kind))
	for i, p := range kind {
		at[i], now[i], would[i] = p.at, p.shared, p.at+p.long
	}
	return trace.BrokenPrefix{Prompts: s.seen, Sampled: int64(len(s.kept)), Share: float64(len(kind)) / float64(len(s.kept)),
		Now: median(now), Would: median(would), At: median(at)}
}

// stretches are the prompts that part before their stretch, by what it is: two
// stretches are the same when half the marks of one are of the other.
func (s *sampler) stretches() [][]parting {
	common, shared := s.common(), s.shared()
	var out [][]parting
	owner := map[uint64]int{} // by mark: the stretch that had it first
	for i := range s.kept {
		from, to := s.kept[i].stretch(common, shared[i])
		n := to - from
		if n < leastStretch || n < shared[i]/leastMore || from-shared[i] > longestField {
			continue
		}
		in := s.kept[i].inside(from, to)
		votes, best := map[int]int{}, len(out)
		for _, d := range in {
			if k, ok := owner[d]; ok {
				votes[k]++
				if 2*votes[k] >= len(in) {
					best = k
				}
			}
		}
		if best == len(out) {
			out = append(out, nil)
			for _, d := range in {
				if _, taken := owner[d]; !taken {
					owner[d] = best
				}
			}
		}
		out[best] = append(out[best], parting{prompt: i, shared: shared[i], long: n})
	}
	return out
}

// inside are the digests of the marks within tokens [from, to).
func (m *marks) inside(from, to int) []uint64 {
	var out []uint64
	for _, w := range m.windows {
		if int(w.at) >= from && int(w.at)+markWidth <= to {
			out = append(out, w.digest)
		}
	}
	return out
}

// fields finds where the fields of prompts with one stretch begin: behind the
// longest beginning that enough of them have. The prompt that one shares most
// with may have a part of the field too, as dates of one hour have.
func (s *sampler) fields(same []parting) {
	carried := map[uint64]int{} // by digest of a beginning
	for _, p := range same {
		for _, d := range s.kept[p.prompt].lead {
			carried[d]++
		}
	}
	least := s.leastOfKind()
	for i := range same {
		p := &same[i]
		n := 0
		for lead := s.kept[p.prompt].lead; n < len(lead) && carried[lead[n]] >= least; {
			n++
		}
		p.at = min(leadAt(n), p.shared)
	}
}

// nearPlaces is how many tokens apart two places of one field may lie: a part of
// a date that many prompts have moves it back.
const nearPlaces = 8

// places parts prompts with one stretch by where their fields stand.
func places(same []parting) [][]parting {
	slices.SortStableFunc(same, func(a, b parting) int { return cmp.Compare(a.at, b.at) })
	var out [][]parting
	for i, p := range same {
		near := nearPlaces
		if p.at > leadDense {
			near = markWidth // no finer is known
		}
		if i == 0 || p.at-same[i-1].at > near {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
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

// stretch is the longest run of common marks behind token after, as tokens
// [from, to).
func (m *marks) stretch(common map[uint64]bool, after int) (from, to int) {
	a, b := 0, 0
	for _, w := range m.windows {
		if int(w.at) < after || !common[w.digest] {
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
