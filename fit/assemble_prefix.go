package fit

import (
	"fmt"
	"math"
	"slices"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// minRootShare is the share of requests from which a shared beginning is told.
const minRootShare = 0.05

// maxRoots bounds how many are told.
const maxRoots = 12

func prefixSection(t *trace.Trace, l *Links) (spec.Prefix, error) {
	p := spec.Prefix{BlockTokens: t.Header.BlockTokens}
	var blocks [][]int32
	var input []int32
	for i := range t.Requests {
		if r := &t.Requests[i]; len(r.Blocks) > 0 && r.Input.OK {
			blocks, input = append(blocks, r.Blocks), append(input, r.Input.V)
		}
	}
	if len(blocks) == 0 {
		p.Notes = []string{"the log has neither prompts nor prefix blocks: prefix sharing is not known"}
		return p, nil
	}
	if n := len(t.Requests) - len(blocks); n > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("prefix sharing rests on %d of %d requests; the others have no prompt", len(blocks), len(t.Requests)))
	}
	s, err := Prefix(blocks, input, t.Header.BlockTokens)
	if err != nil {
		return p, err
	}
	if s.Inconsistent > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d blocks do not follow the block that they followed first: the ids are not chained, and no hit rate can be told", s.Inconsistent))
		return p, nil
	}
	n := s.Requests
	if s.AnyHit.OK() {
		v := spec.MeasuredNumber(s.AnyHit.Value, "1", n)
		p.ShareRequests = &v
	}
	for _, r := range s.Rates() {
		if r.Value.OK() {
			p.HitRates = append(p.HitRates, spec.HitRate{Name: r.Name, Denominator: r.Denominator, Number: spec.MeasuredNumber(r.Value.Value, "1", n)})
		}
	}
	for _, r := range Roots(blocks, t.Header.BlockTokens, minRootShare) {
		if len(p.Roots) < maxRoots {
			p.Roots = append(p.Roots, spec.Root{Provenance: spec.Provenance{From: spec.Measured, N: r.N}, Tokens: spec.Round(float64(r.Tokens)), Share: spec.Round(r.Share)})
		}
	}
	if p.Model, err = reuse(blocks, input, s, int32(p.Common()), nil); err != nil {
		return p, err
	}
	return p, sharing(&p, t, blocks, input, s, l)
}

// firstReuse is reuse of the first turns alone: what further turns share is the
// history of their session.
func firstReuse(t *trace.Trace, l *Links) (*spec.Reuse, error) {
	var blocks [][]int32
	var input []int32
	var first []bool
	for i := range t.Requests {
		if r := &t.Requests[i]; len(r.Blocks) > 0 && r.Input.OK {
			blocks, input, first = append(blocks, r.Blocks), append(input, r.Input.V), append(first, l.Parent[i] < 0)
		}
	}
	s, err := Prefix(blocks, input, t.Header.BlockTokens)
	if err != nil || s.Inconsistent > 0 || !slices.Contains(first, true) {
		return nil, err
	}
	return reuse(blocks, input, s, commonDepth(t), first)
}

// reuseGrid is finer at the top, where deep hits carry most of the tokens.
func reuseGrid() []float64 {
	var p []float64
	for i := range 20 {
		p = append(p, float64(i)/20)
	}
	return append(p, 0.98, 1)
}

// reuse describes, for strata of inputs of about equal mass, how deep prompts
// hit and, of hits deeper than root, how far back. Synth undoes it.
// With only, it describes those prompts among all.
func reuse(blocks [][]int32, input []int32, s PrefixStats, root int32, only []bool) (*spec.Reuse, error) {
	d, err := StackDistances(blocks, input, s.BlockTokens)
	if err != nil {
		return nil, err
	}
	grid := reuseGrid()
	out := &spec.Reuse{Provenance: spec.Provenance{From: spec.Measured, N: s.Requests}, P: spec.Nums(grid),
		Continued: continued(blocks, input, s, root, only)}
	input = sixDigits(input)
	order := byValue(input)
	if only != nil {
		order = slices.DeleteFunc(order, func(i int32) bool { return !only[i] })
		out.N = int64(len(order))
	}
	from := 0
	for _, to := range reuseCuts(input, order) {
		var depth, back []int32
		for _, i := range order[from:to] {
			depth = append(depth, s.Hits[i])
			if s.Hits[i] > root {
				back = append(back, d.Distance[i])
			}
		}
		st := spec.ReuseStratum{Upto: spec.Round(float64(input[order[to-1]])), N: int64(to - from), HitBlocks: quantiles(depth, grid), Distance: []spec.Num{}}
		if len(back) > 0 {
			st.Distance = quantiles(back, grid)
		}
		out.Strata = append(out.Strata, st)
		from = to
	}
	return out, nil
}

// maxHalvings bounds how often the top stratum of prompts is halved.
const maxHalvings = 2

// reuseCuts is cuts, with the top stratum halved up to maxHalvings times, while
// parts hold minStratum: the longest prompts carry most of the tokens.
func reuseCuts(input, order []int32) []int {
	ends := cuts(input, order)
	from := 0
	if len(ends) > 1 {
		from = ends[len(ends)-2]
	}
	n := len(order)
	var extra []int
	for n-from >= 2*minStratum && len(extra) < maxHalvings {
		mid := from + (n-from)/2
		for mid < n && input[order[mid]] == input[order[mid-1]] {
			mid++
		}
		if n-mid < minStratum {
			break
		}
		extra = append(extra, mid)
		from = mid
	}
	return slices.Concat(ends[:len(ends)-1], extra, []int{n})
}

func quantiles(x []int32, p []float64) []spec.Num {
	q := dist.FromInts(x, 1).Quantiles(p)
	for i := range q {
		q[i] = math.Round(q[i])
	}
	return spec.Nums(q)
}

// continued is the share of hits deeper than root that reach the last whole
// block of the prompt that touched it last.
func continued(blocks [][]int32, input []int32, s PrefixStats, root int32, only []bool) *spec.Number {
	ids, distinct := renumber(blocks)
	whole := make([]int32, distinct) // by block: whole blocks of the prompt that touched it last
	var hits, all int64
	for i, list := range ids {
		if h := s.Hits[i]; h > root && (only == nil || only[i]) {
			hits++
			if h >= whole[list[h-1]] {
				all++
			}
		}
		n := min(input[i]/int32(s.BlockTokens), int32(len(list)))
		for _, b := range list {
			whole[b] = n
		}
	}
	if hits == 0 {
		return nil
	}
	v := spec.MeasuredNumber(float64(all)/float64(hits), "1", hits)
	return &v
}
