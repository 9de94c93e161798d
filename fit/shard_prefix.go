package fit

import (
	"fmt"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// hitPass counts what an infinite cache hits, exactly, in one pass over a long
// trace, and chooses the blocks for the cache curve.
type hitPass struct {
	s      PrefixStats
	any    int64
	seen   idSet
	limit  int64 // of block ids, which are numbered by first appearance
	odd    bool  // they are not
	ratios dist.Sum
	inputs int64 // requests that have any
	curve  *SampledReuse
}

func newHitPass(a *alignment, l Limits) hitPass {
	rate := 1.0
	if a.blocks > l.Sample {
		rate = float64(l.Sample) / float64(a.blocks)
	}
	return hitPass{s: PrefixStats{BlockTokens: max(a.header.BlockTokens, 1)}, limit: a.blocks, curve: NewSampledReuse(rate, a.header.BlockTokens)}
}

func (h *hitPass) add(requests []trace.Request) error {
	for i := range requests {
		r := &requests[i]
		if len(r.Blocks) == 0 || !r.Input.OK || h.odd {
			continue
		}
		h.request(r.Blocks, r.Input.V)
	}
	return nil
}

func (h *hitPass) request(blocks []int32, input int32) {
	hits, leading := 0, true
	for _, id := range blocks {
		if id < 0 || int64(id) >= h.limit {
			h.odd = true
			return
		}
		if fresh := h.seen.set(int64(id)); fresh {
			leading = false
			h.s.DistinctBlocks++
		} else if leading {
			hits++
		}
	}
	b := int64(h.s.BlockTokens)
	full, tokens := min(int64(input)/b, int64(len(blocks))), min(b*int64(hits), int64(input))
	h.s.Requests++
	h.s.TotalBlocks += int64(len(blocks))
	h.s.HitBlocks += int64(hits)
	h.s.InputTokens += int64(input)
	h.s.HitTokens += tokens
	h.s.FullBlocks += full
	h.s.FullHitBlocks += min(int64(hits), full)
	if hits > 0 {
		h.any++
	}
	if input > 0 {
		h.ratios.Add(float64(tokens) / float64(input))
		h.inputs++
	}
	h.curve.Add(blocks, input, hits, 0)
}

// prefix puts the counts of all n requests in the place of those of the first
// ones, which describe the rest.
func (h *hitPass) prefix(p *spec.Prefix, first, n int64) {
	if len(p.HitRates) == 0 || h.s.Requests == 0 {
		return
	}
	if h.odd {
		p.Notes = append(p.Notes, fmt.Sprintf("prefix sharing rests on the first %d of %d requests: blocks are not numbered by first appearance", first, n))
		return
	}
	s := &h.s
	s.MeanRatio = absent("no request has input")
	if h.inputs > 0 {
		s.MeanRatio = value(h.ratios.Value() / float64(h.inputs))
	}
	p.ShareRequests = ptr(spec.MeasuredNumber(float64(h.any)/float64(s.Requests), "1", s.Requests))
	p.HitRates = nil
	for _, r := range s.Rates() {
		if r.Value.OK() {
			p.HitRates = append(p.HitRates, spec.HitRate{Name: r.Name, Denominator: r.Denominator, Number: spec.MeasuredNumber(r.Value.Value, "1", s.Requests)})
		}
	}
	p.Notes = append(p.Notes, fmt.Sprintf("hit rates of an infinite cache and the cache curve are of all %d requests; common beginnings, the reuse model and reuse times rest on the first %d", s.Requests, first))
	h.points(p)
}

// points is the sampled curve with its error.
func (h *hitPass) points(p *spec.Prefix) {
	from := spec.Provenance{From: spec.Measured, N: h.s.Requests}
	if h.curve.Rate() < 1 {
		from.From = spec.Estimate
	}
	p.Curve = nil
	worst := 0.0
	for _, c := range h.curve.Curve(CurveCapacities()) {
		p.Curve = append(p.Curve, spec.CachePoint{Provenance: from, CapacityTokens: spec.Round(float64(c.CapacityTokens)),
			Tokens: spec.Round(c.Tokens), Blocks: spec.Round(c.Blocks)})
		worst = max(worst, c.TokensError, c.BlocksError)
	}
	if h.curve.Rate() < 1 {
		p.Notes = append(p.Notes, fmt.Sprintf("the cache curve rests on 1 in %.3g blocks, chosen by chance (SHARDS): each point holds within ±%.2g points (95 %%)", 1/h.curve.Rate(), 100*worst))
	}
}
