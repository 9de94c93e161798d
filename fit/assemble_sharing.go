package fit

import (
	"cmp"
	"maps"
	"slices"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// CurveCapacities are the sizes (tokens) at which the spec tells what an LRU
// cache hits.
func CurveCapacities() []int64 {
	return []int64{100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000}
}

// identical finds the beginnings that most prompts have in common: of all, and
// of each model and adapter where there are several.
func identical(t *trace.Trace) []spec.CommonPrefix {
	out := []spec.CommonPrefix{}
	add := func(kind, alias string, in []int32) {
		if c, ok := commonOf(t, in); ok {
			c.Kind, c.Alias = kind, alias
			out = append(out, c)
		}
	}
	all := make([]int32, 0, len(t.Requests))
	for i := range t.Requests {
		if r := &t.Requests[i]; len(r.Blocks) > 0 && r.Input.OK {
			all = append(all, int32(i))
		}
	}
	add(spec.KindAll, "", all)
	for _, by := range []struct {
		kind string
		name func(*trace.Request) string
	}{{spec.KindModel, func(r *trace.Request) string { return r.Model }}, {spec.KindAdapter, func(r *trace.Request) string { return r.Adapter }}} {
		groups := map[string][]int32{}
		for _, i := range all {
			if k := by.name(&t.Requests[i]); k != "" {
				groups[k] = append(groups[k], i)
			}
		}
		if len(groups) < 2 && by.kind == spec.KindModel {
			continue // the same as of all
		}
		names := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b))
		})
		for _, k := range names[:min(len(names), maxClasses)] {
			add(by.kind, k, groups[k])
		}
	}
	return out
}

// commonOf finds the deepest block that spec.CommonShare of some prompts have,
// and how many have it. To the token: of those that have it, all but the first
// share with an earlier one at least what all have, and the first of each branch
// no more.
func commonOf(t *trace.Trace, in []int32) (c spec.CommonPrefix, ok bool) {
	refs, depth := map[int32]int64{}, map[int32]int{}
	for _, i := range in {
		for d, id := range t.Requests[i].Blocks {
			refs[id]++
			depth[id] = d + 1
		}
	}
	best, at := 0, int32(-1)
	for _, i := range in {
		for d, id := range t.Requests[i].Blocks {
			if refs[id] < 2 || float64(refs[id]) < float64(spec.CommonShare*float64(len(in))) {
				break
			}
			if d+1 > best || d+1 == best && refs[id] > refs[at] {
				best, at = d+1, id
			}
		}
	}
	c.Provenance = spec.Provenance{From: spec.Measured, N: int64(len(in))}
	if best == 0 {
		return c, len(in) > 1
	}
	size := int64(t.Header.BlockTokens)
	c.Tokens, c.Share = spec.Round(float64(int64(best)*size)), spec.Round(float64(refs[at])/float64(len(in)))
	if n, exact := exactly(t, in, best, at); exact && int64(n) >= int64(best)*size && int64(n) < int64(best+1)*size {
		c.Tokens, c.Exact = spec.Round(float64(n)), true
	}
	return c, true
}

// exactly is the least token-exact prefix of the prompts with a block at a depth,
// the first of them left out; not known where one of them does not say.
func exactly(t *trace.Trace, in []int32, depth int, block int32) (least int32, ok bool) {
	first := true
	for _, i := range in {
		r := &t.Requests[i]
		if len(r.Blocks) < depth || r.Blocks[depth-1] != block {
			continue
		}
		if first {
			first = false
			continue
		}
		if !r.Prefix.OK {
			return 0, false
		}
		if !ok || r.Prefix.V < least {
			least, ok = r.Prefix.V, true
		}
	}
	return least, ok
}

// sharing adds the curve, the times and the split of hits to what prefixSection
// has.
func sharing(p *spec.Prefix, t *trace.Trace, blocks [][]int32, input []int32, s PrefixStats, l *Links) error {
	from := spec.Provenance{From: spec.Measured, N: s.Requests}
	p.Identical = identical(t)
	root, deeper := int32(p.Common()), int64(0)
	for _, h := range s.Hits {
		deeper += int64(is(h > root))
	}
	p.ShareBeyond = ptr(spec.MeasuredNumber(float64(deeper)/float64(s.Requests), "1", s.Requests))
	d, err := StackDistances(blocks, input, s.BlockTokens)
	if err != nil {
		return err
	}
	for _, c := range d.LRUCurve(CurveCapacities()) {
		if c.Tokens.OK() && c.Blocks.OK() {
			p.Curve = append(p.Curve, spec.CachePoint{Provenance: from, CapacityTokens: spec.Round(float64(c.CapacityTokens)),
				Tokens: spec.Round(c.Tokens.Value), Blocks: spec.Round(c.Blocks.Value)})
		}
	}
	if t.Timed() && len(blocks) == len(t.Requests) {
		if v := ReuseTimes(blocks, Times(t)); v.Len() > 0 {
			x := dist.NewTable(v, dist.Grid(20))
			p.ReuseTimes = &spec.Table{Provenance: spec.Provenance{From: spec.Measured, N: v.Len()}, P: spec.Nums(x.P), Values: spec.Nums(x.X)}
		}
	}
	generated(p, t, s, l)
	return nil
}

// generated estimates the hits on answers that are sent back for the first time:
// of a turn that begins with the whole prompt before, the whole blocks between
// the end of that prompt and the end of its answer, as far as the turn is long.
// Reasoning is not sent back.
func generated(p *spec.Prefix, t *trace.Trace, s PrefixStats, l *Links) {
	if l.Count == len(t.Requests) || l.Count == 0 {
		p.Notes = append(p.Notes, "hits on generated tokens: n/a (no request is known to continue another)")
		return
	}
	size := t.Header.BlockTokens
	var tokens, turns int64
	for i := range t.Requests {
		r := &t.Requests[i]
		if l.Parent[i] < 0 || !r.Input.OK {
			continue
		}
		before := &t.Requests[l.Parent[i]]
		k, ok := keeps(before, r, size)
		if !ok || k < 1 || !before.Output.OK {
			continue
		}
		turns++
		answer := int64(before.Output.V) - int64(before.Reason.V)
		from := int64(before.Input.V) / int64(size)
		to := min(int64(before.Input.V)+max(answer, 0), int64(r.Input.V)) / int64(size)
		tokens += max(to-from, 0) * int64(size)
	}
	if turns == 0 {
		p.Notes = append(p.Notes, "hits on generated tokens: n/a (no turn begins with the prompt before it)")
		return
	}
	if all := s.HitTokens + tokens; all > 0 && s.InputTokens > 0 {
		p.Generated = &spec.Generated{Provenance: spec.Provenance{From: spec.Estimate, N: turns}, By: l.By,
			Share: spec.Round(float64(tokens) / float64(all)), HitRate: spec.Round(min(float64(all)/float64(s.InputTokens), 1))}
	}
}

// broken takes over what the prompts' own text told of prefixes that do not
// hit; it is known only where they were read.
func broken(p *spec.Prefix, h trace.Header) {
	if h.Counting == nil {
		return
	}
	var all []spec.Broken
	for _, b := range h.Counting.Broken {
		all = append(all, spec.Broken{Provenance: spec.Provenance{From: spec.Estimate, N: b.Sampled}, Share: spec.Round(b.Share),
			Now: spec.Round(float64(b.Now)), Would: spec.Round(float64(b.Would)), At: spec.Round(float64(b.At)), Behind: b.Behind})
	}
	p.SetBroken(all)
}
