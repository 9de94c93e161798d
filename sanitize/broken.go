package sanitize

import (
	"cmp"
	"math"
	"slices"

	"reprise/trace"
)

// What counts as a broken prefix.
const (
	leastPrompts = 50  // in the sample, to tell anything
	leastShare   = 0.1 // of the sample makes a beginning or a stretch common, and a kind
	fewestOfKind = 12  // prompts, for the same
	leastStretch = 128 // tokens in common
	leastMore    = 4   // of what is shared without it, one part in so many
	longestField = 256 // tokens from where prompts part to what they have in common
)

// broken tells whether prompts have long stretches in common that stand behind
// fields that change, and what would be shared without them. Each stretch, and
// each place of a field before it, is told for itself; a prompt counts for one
// of them, by its longest stretch. A further field between parts of the stretch
// has a row behind that of the field before it. What no engine shares, as of two
// adapters, and is of the same lengths is told once. What would save most comes
// first.
func (s *sampler) broken() []trace.BrokenPrefix {
	if len(s.kept) < leastPrompts {
		return nil
	}
	var all []toldKind
	for _, same := range s.stretches() {
		for _, place := range apart(same, func(p parting) int { return p.at }, nearPlaces) {
			for _, kind := range apart(place, func(p parting) int { return p.runs[0].len() }, nearLengths) {
				if told := s.told(kind); len(kind) >= s.least() && told != nil {
					all = join(all, toldKind{told, []uint64{s.kept[kind[0].prompt].seed}})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b toldKind) int {
		return cmp.Or(cmp.Compare(saves(b.rows), saves(a.rows)), cmp.Compare(a.rows[0].At, b.rows[0].At))
	})
	var rows []trace.BrokenPrefix
	for _, k := range all {
		rows = append(rows, k.rows...)
	}
	return rows
}

// saves is how many tokens of a prompt a kind's fields cost, over all prompts.
func saves(rows []trace.BrokenPrefix) float64 {
	sum := 0.0
	for _, b := range rows {
		sum += float64(b.Share * float64(b.Would-b.Now))
	}
	return sum
}

// least is how many prompts of the sample make something common. A field's
// value that fewer have breaks what they share, though a few may have it too.
func (s *sampler) least() int {
	return max(int(math.Ceil(leastShare*float64(len(s.kept)))), fewestOfKind)
}

// parting is a prompt of the sample with a long stretch in common that stands
// behind a field that changes.
type parting struct {
	prompt int   // in the sample
	at     int   // token at which its field begins: so many tokens many others have too
	now    int   // tokens of its beginning that one before it in the sample, or in the log, has
	runs   []run // what is in common behind the field, a further field before each but the first
}

// run is a stretch in common: tokens [from, to), and the digests of its links.
type run struct {
	from, to int
	links    []uint64
}

func (r run) len() int { return r.to - r.from }

// longest is a prompt's longest run.
func (p *parting) longest() run {
	return slices.MaxFunc(p.runs, func(a, b run) int { return cmp.Compare(a.len(), b.len()) })
}

func (p *parting) common() int {
	sum := 0
	for _, r := range p.runs {
		sum += r.len()
	}
	return sum
}

// partings are the prompts of which much is in common behind a field.
func (s *sampler) partings() []parting {
	beginnings, links := s.common()
	var out []parting
	seen := map[uint64]bool{} // beginnings, of the prompts before
	for i := range s.kept {
		m := &s.kept[i]
		p := parting{prompt: i}
		p.at = m.begins(func(d uint64) bool { return beginnings[d] >= s.least() })
		p.now = max(m.begins(func(d uint64) bool { return seen[d] }), m.before)
		for _, d := range m.lead {
			seen[d] = true
		}
		p.runs = worth(p.at, m.runs(p.at, func(d uint64) bool { return links[d] >= s.least() }))
		if len(p.runs) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// common counts how many prompts have each beginning and each link.
func (s *sampler) common() (beginnings, links map[uint64]int) {
	beginnings, links = map[uint64]int{}, map[uint64]int{}
	for i := range s.kept {
		for _, d := range s.kept[i].lead {
			beginnings[d]++
		}
		once := map[uint64]bool{}
		for _, l := range s.kept[i].links {
			if !once[l.digest] {
				once[l.digest] = true
				links[l.digest]++
			}
		}
	}
	return beginnings, links
}

// begins is how many tokens the longest beginning has that is in a set, which
// has all shorter ones too.
func (m *marks) begins(in func(digest uint64) bool) int {
	n := 0
	for n < len(m.lead) && in(m.lead[n]) {
		n++
	}
	return min(leadAt(n), m.tokens)
}

// leastRun is how long a stretch between two fields is told from them.
const leastRun = 32

// runs are the stretches of common links behind token after, none further from
// the one before it than a field is long.
func (m *marks) runs(after int, common func(digest uint64) bool) []run {
	var all []run
	last := -2 // common link
	for k, l := range m.links {
		if int(l.from) < after || !common(l.digest) {
			continue
		}
		if k != last+1 {
			all = append(all, run{from: int(l.from)})
		}
		r := &all[len(all)-1]
		r.to, r.links, last = int(l.to), append(r.links, l.digest), k
	}
	var out []run
	for _, r := range all {
		if r.from-after > longestField {
			break
		}
		if r.len() >= leastRun {
			out, after = append(out, r), r.to
		}
	}
	return out
}

// worth are the runs up to the last for which it pays to move the fields before
// it, beyond what is shared without.
func worth(at int, runs []run) []run {
	good, shared, more := 0, at, 0
	for i, r := range runs {
		if more += r.len(); more >= leastStretch && more >= shared/leastMore {
			good, shared, more = i+1, shared+more, 0
		}
	}
	return runs[:good]
}

// stretches are the partings by what their longest stretch is: two are the same
// when half the links of one are of the other.
func (s *sampler) stretches() [][]parting {
	var out [][]parting
	owner := map[uint64]int{} // by link: the stretch that had it first
	for _, p := range s.partings() {
		in := p.longest().links
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
		out[best] = append(out[best], p)
	}
	return out
}

// How many tokens apart two places of one field may lie (a part of a date that
// many prompts have moves it back), and two lengths of one stretch, of which up
// to markWidth+markEvery are not seen at either end.
const (
	nearPlaces  = 8
	nearLengths = 2 * (markWidth + markEvery)
)

// apart parts prompts where a length of theirs makes a step of more than near
// tokens; behind leadDense no beginning is known finer than to leadStep.
func apart(same []parting, length func(parting) int, near int) [][]parting {
	slices.SortStableFunc(same, func(a, b parting) int { return cmp.Compare(length(a), length(b)) })
	var out [][]parting
	for i, p := range same {
		step := near
		if length(p) > leadDense {
			step = max(step, leadStep)
		}
		if i == 0 || length(p)-length(same[i-1]) > step {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
}
