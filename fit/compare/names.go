package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"reprise/trace"
	"reprise/trace/spec"
)

// kinds are what has names: their shares are told of each.
var kinds = [2]string{"model", "adapter"}

// otherNames is the alias under which a spec that leaves pools rare names.
const otherNames = "other"

// maxRanks is how many shares are set side by side by rank; the rest is pooled.
const maxRanks = 10

// matching says which names of the reference are which of the second:
//
//	pairs    the same name on both sides
//	ranked   those whose names tell nothing, compared by the size of their share
//
// A name in the clear is the same everywhere, an alias by key wherever the key
// is; model1 is the first model of its own log and of no other. Where both sides
// have names that the other lacks, each may be the other's under another name,
// unless all of them are in the clear, or all by one key.
type matching struct {
	pairs            []string
	rankedA, rankedB []spec.Share
	// pooled is how many names are ranked before the rest is pooled.
	pooled int
	why    string // why there are ranks; empty without
}

func match(kind string, a, b []spec.Share, same bool) matching {
	var m matching
	inB, keyed := map[string]bool{}, false
	for _, s := range b {
		inB[s.Alias] = true
	}
	for _, s := range a {
		keyed = keyed || inB[s.Alias] && trace.AliasOf(kind, s.Alias) == trace.Keyed
	}
	matched := map[string]bool{}
	for _, s := range a {
		if inB[s.Alias] && s.Alias != otherNames && (same || trace.AliasOf(kind, s.Alias) != trace.Numbered) {
			m.pairs, matched[s.Alias] = append(m.pairs, s.Alias), true
		}
	}
	restA, restB := without(a, matched), without(b, matched)
	names := [3]int{}
	for _, s := range slices.Concat(restA, restB) {
		if s.Alias != otherNames {
			names[trace.AliasOf(kind, s.Alias)]++
		}
	}
	total := names[trace.NoAlias] + names[trace.Numbered] + names[trace.Keyed]
	switch {
	case total == 0, same, names[trace.NoAlias] == total, keyed && names[trace.Keyed] == total:
		m.byName(restA, restB)
		return m
	}
	m.rankedA, m.rankedB, m.pooled = restA, restB, maxRanks
	for _, list := range [][]spec.Share{restA, restB} {
		if n := len(list); slices.ContainsFunc(list, func(s spec.Share) bool { return s.Alias == otherNames }) {
			m.pooled = min(m.pooled, n-1)
		}
	}
	m.why = why(kind, names)
	return m
}

func why(kind string, names [3]int) string {
	how := fmt.Sprintf("%ss go by aliases of their own log (%s1, %s2, … by first appearance)", kind, kind, kind)
	switch {
	case names[trace.Numbered] == 0 && names[trace.NoAlias] == 0:
		how = fmt.Sprintf("no %s alias of the one is in the other, so their keys may be different ones", kind)
	case names[trace.Numbered] == 0:
		how = fmt.Sprintf("some %ss go by their name in the one and by an alias in the other", kind)
	}
	return how + fmt.Sprintf(": which %s of the one is which of the other is not known, so their shares are compared by rank, and two that changed places would not be seen; ingest both logs under one --key-file, or let the policy keep the names", kind)
}

// byName pairs names that one side lacks with nothing, unless they may be among
// the other's pooled ones: then they are pooled too.
func (m *matching) byName(a, b []spec.Share) {
	pools := func(list []spec.Share) bool {
		return slices.ContainsFunc(list, func(s spec.Share) bool { return s.Alias == otherNames })
	}
	split := func(list []spec.Share, pooled bool) (rest []spec.Share) {
		for _, s := range list {
			if s.Alias != otherNames && !pooled {
				m.pairs = append(m.pairs, s.Alias)
			} else {
				rest = append(rest, s)
			}
		}
		return rest
	}
	m.rankedA, m.rankedB = split(a, pools(b)), split(b, pools(a))
}

func without(list []spec.Share, names map[string]bool) []spec.Share {
	var out []spec.Share
	for _, s := range list {
		if !names[s.Alias] {
			out = append(out, s)
		}
	}
	return out
}

// nameMetrics are the shares of models, or of adapters. A side that names none
// says nothing of them.
func nameMetrics(kind string, a, b *side, same bool) []Metric {
	listA, listB := a.names[kind], b.names[kind]
	if len(listA) == 0 && len(listB) == 0 {
		return nil
	}
	if len(listA) == 0 || len(listB) == 0 {
		return lonely(kind, listA, listB)
	}
	m := match(kind, listA, listB, same)
	var out []Metric
	slices.Sort(m.pairs)
	for _, name := range m.pairs {
		out = append(out, shares(fmt.Sprintf("%sof %s %s", featurePrefix, kind, name), shareOf(listA, name), shareOf(listB, name)))
	}
	ra, rb := byRank(m.rankedA, m.pooled), byRank(m.rankedB, m.pooled)
	for i := range m.pooled + 1 {
		if i >= len(ra) && i >= len(rb) {
			break
		}
		out = append(out, shares(rankName(kind, i, m.pooled), at(ra, i), at(rb, i)))
	}
	return out
}

// rankName is the i-th most used, or all beyond the ranks.
func rankName(kind string, i, ranks int) string {
	switch {
	case ranks == 0:
		return fmt.Sprintf("%sof rare %ss", featurePrefix, kind)
	case i == ranks:
		return fmt.Sprintf("%sof the other %ss", featurePrefix, kind)
	}
	return fmt.Sprintf("%sof %s no. %d by share", featurePrefix, kind, i+1)
}

// lonely are the shares of which one side says nothing.
func lonely(kind string, a, b []spec.Share) []Metric {
	var out []Metric
	for _, s := range slices.Concat(a, b) {
		m := Metric{Section: sectionFeatures, Name: fmt.Sprintf("%sof %s %s", featurePrefix, kind, s.Alias), Unit: "1", How: Difference, Why: "the reference cannot tell"}
		if len(a) > 0 {
			m.A, m.Why = some(float64(s.Value)), "the second cannot tell"
		} else {
			m.B = some(float64(s.Value))
		}
		out = append(out, m)
	}
	return out
}

func shares(name string, a, b float64) Metric {
	return Metric{Section: sectionFeatures, Name: name, Unit: "1", How: Difference, A: some(a), B: some(b), Off: some(math.Abs(b - a))}
}

func shareOf(list []spec.Share, name string) float64 {
	for _, s := range list {
		if s.Alias == name {
			return float64(s.Value)
		}
	}
	return 0
}

// byRank are the largest shares, and behind them the sum of the rest, in which
// pooled names are.
func byRank(list []spec.Share, ranks int) []float64 {
	var out []float64
	rest := 0.0
	for _, s := range list {
		if s.Alias == otherNames {
			rest += float64(s.Value)
		} else {
			out = append(out, float64(s.Value))
		}
	}
	slices.SortFunc(out, func(a, b float64) int { return cmp.Compare(b, a) })
	for len(out) > ranks {
		rest += out[len(out)-1]
		out = out[:len(out)-1]
	}
	if rest == 0 {
		return out
	}
	for len(out) < ranks {
		out = append(out, 0)
	}
	return append(out, rest)
}

func at(list []float64, i int) float64 {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// unmatched notes whose names tell nothing about each other.
func (r *Report) unmatched(a, b *side, same bool) {
	for _, kind := range kinds {
		if len(a.names[kind]) == 0 || len(b.names[kind]) == 0 {
			continue
		}
		if m := match(kind, a.names[kind], b.names[kind], same); m.why != "" {
			r.Unmatched = append(r.Unmatched, kind+"s")
			r.Notes = append(r.Notes, m.why)
		}
	}
}

// sameNames says whether the aliases of a trace are those of the reference: a
// synthetic trace has those of the spec of its source.
func sameNames(b *trace.Trace, o Options) bool {
	return o.SameNames || o.Limits == Fidelity && b.Header.Profile == "synthetic"
}

// rankNoise are the shares by rank of the reference and of its resample, which
// have the same names.
func rankNoise(a, b *side) []Metric {
	var out []Metric
	for _, kind := range kinds {
		ra, rb := byRank(a.names[kind], maxRanks), byRank(b.names[kind], maxRanks)
		for i := range max(len(ra), len(rb)) {
			out = append(out, shares(rankName(kind, i, maxRanks), at(ra, i), at(rb, i)))
		}
	}
	return out
}
