package sanitize

import (
	"cmp"
	"math"
	"slices"

	"reprise/trace"
)

// told describes the fields of one kind of prompts, the first one in the prompt
// first; nothing when too little would be gained. The stretches between them
// are those of a prompt in the middle of the kind. What is shared now counts as
// a cache of the log has it, or of the sample in its order: of a value that some
// have in common all but the first prompt share. The first of the kind, which
// finds nothing whatever moves, does not count.
func (s *sampler) told(kind []parting) []trace.BrokenPrefix {
	if len(kind) < 2 {
		return nil
	}
	runs := middle(kind)
	moved := []int{median(kind)} // tokens shared once so many fields have moved
	for _, r := range runs {
		moved = append(moved, moved[len(moved)-1]+r.len())
	}
	most := moved[len(runs)]
	now, would := s.shared(kind, moved[0], most), float64(most)
	if would-now < now/leastMore {
		return nil
	}
	var out []trace.BrokenPrefix
	at := moved[0]
	for k, r := range runs {
		if k > 0 {
			kind = s.having(kind, r)
		}
		if len(kind) < s.least() {
			break
		}
		out = append(out, trace.BrokenPrefix{Prompts: s.seen, Sampled: int64(len(s.kept)), Share: float64(len(kind)) / float64(len(s.kept)),
			Now: tokens(s.shared(kind, moved[k], most)), Would: tokens(s.shared(kind, moved[k+1], most)), At: int64(at), Behind: k > 0})
		at = r.to
	}
	return out
}

// shared is the mean of what prompts share when at least so many tokens are,
// counted up to the end of what they have in common, to which all do that are
// known to come within a step of it.
func (s *sampler) shared(kind []parting, least, most int) float64 {
	first := slices.MinFunc(kind, func(a, b parting) int { return cmp.Compare(a.prompt, b.prompt) }).prompt
	sum, n := 0, 0
	for _, p := range kind {
		if p.prompt == first {
			continue
		}
		now := min(p.now, most)
		if now > leadDense && now+leadStep > most {
			now = most
		}
		sum, n = sum+max(now, least), n+1
	}
	return float64(sum) / float64(max(n, 1))
}

func tokens(x float64) int64 { return int64(math.Round(x)) }

// having are the prompts with half the links of a run.
func (s *sampler) having(kind []parting, r run) []parting {
	var out []parting
	for _, p := range kind {
		n := 0
		for _, l := range s.kept[p.prompt].links {
			if slices.Contains(r.links, l.digest) {
				n++
			}
		}
		if 2*n >= len(r.links) {
			out = append(out, p)
		}
	}
	return out
}

// middle are the runs of the prompt in the middle of a kind, by how many it has
// and how long they are.
func middle(kind []parting) []run {
	by := slices.SortedFunc(slices.Values(kind), func(a, b parting) int {
		return cmp.Or(cmp.Compare(len(a.runs), len(b.runs)), cmp.Compare(a.common(), b.common()), cmp.Compare(a.prompt, b.prompt))
	})
	return by[(len(by)-1)/2].runs
}

// median is where the field of the prompt in the middle begins.
func median(kind []parting) int {
	at := make([]int, len(kind))
	for i, p := range kind {
		at[i] = p.at
	}
	slices.Sort(at)
	return at[(len(at)-1)/2]
}
