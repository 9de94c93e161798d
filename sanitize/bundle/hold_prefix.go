package bundle

import "reprise/trace/spec"

const prefixKey = "workload.prefix"

// prefix holds back beginnings that few requests share and the ends of the
// reuse tables.
func (h *holder) prefix(w *spec.Workload) error {
	p := &w.Prefix
	prompts := h.requests
	if p.Model != nil {
		prompts = p.Model.N
	}
	h.share(prefixKey+".share_requests", &p.ShareRequests)
	p.HitRates = keep(h, prefixKey+".hit_rates", p.HitRates, func(r spec.HitRate) bool {
		return !counted(r.From) || r.N >= h.k
	})
	p.Roots = keep(h, prefixKey+".roots", p.Roots, func(r spec.Root) bool {
		return !counted(r.From) || h.enough(behind(r.Share, r.N, prompts))
	})
	for i := range p.Roots {
		h.rootLength(&p.Roots[i])
	}
	p.Model = h.reuse(prefixKey+".reuse", p, top(w.Lengths.Input))
	p.Notes = h.remarks(prefixKey+".notes", p.Notes)
	return nil
}

// rootLength rounds the length of a shared beginning up to 16 tokens: the exact
// length of a system prompt would confirm a guess at it.
func (h *holder) rootLength(r *spec.Root) {
	up := sixteens(r.Tokens)
	if counted(r.From) && up != r.Tokens {
		r.Tokens = up
		h.back("%s.roots: exact length of a shared beginning", prefixKey)
	}
}

// reuse merges strata upward and cuts their tables. The probabilities are those
// that the largest stratum carries; in a thinner one, the values beyond its own
// k/n and 1-k/n are those at its own ends.
func (h *holder) reuse(key string, p *spec.Prefix, top spec.Num) *spec.Reuse {
	m := p.Model
	if m == nil || !counted(m.From) {
		return m
	}
	r := reuse{p: m.P}
	if len(p.Roots) > 0 {
		r.root = float64(p.Roots[0].Tokens) / float64(p.BlockTokens)
	}
	strata := h.solidStrata(m.Strata, r, top)
	if len(strata) == 0 {
		h.back("%s", key)
		return nil
	}
	if n := len(strata); n < len(m.Strata) {
		h.back("%s.strata: %d merged into %d", key, len(m.Strata), n)
	}
	h.share(key+".continued", &m.Continued)
	largest := int64(0)
	for i := range strata {
		largest = max(largest, strata[i].N)
		if !h.clampStratum(&strata[i], r) {
			h.back("%s.strata[%d].distance", key, i)
		}
	}
	from, to := inside(m.P, largest, h.k)
	h.ends(key, m.P, from, to)
	m.P, m.Strata = m.P[from:to], strata
	for i := range strata {
		s := &strata[i]
		s.HitBlocks = s.HitBlocks[from:to]
		if len(s.Distance) > 0 {
			s.Distance = s.Distance[from:to]
		}
	}
	if last := len(strata) - 1; strata[last].Upto != top {
		strata[last].Upto = top
		h.back("%s.strata: the largest input", key)
	}
	return m
}

// solidStrata merges strata until each is solid; failing that, all into one
// that has a quantile to show; failing that, none.
func (h *holder) solidStrata(in []spec.ReuseStratum, r reuse, top spec.Num) []spec.ReuseStratum {
	shows := func(s spec.ReuseStratum) bool {
		from, to := inside(r.p, max(s.N, 1), h.k)
		return from < to
	}
	out := mergeUp(in, func(s spec.ReuseStratum) bool { return s.N >= solid*h.k && shows(s) }, r.join,
		func(s spec.ReuseStratum) bool { return s.Upto < top })
	if len(out) > 0 {
		return out
	}
	return mergeUp(in, shows, r.join, func(spec.ReuseStratum) bool { return false })
}

// clampStratum cuts both tables of a stratum. It is false when the distances
// rest on too few hits and went.
func (h *holder) clampStratum(s *spec.ReuseStratum, r reuse) bool {
	hits := int64(r.hits(*s)) // before the depths are cut
	from, to := inside(r.p, s.N, h.k)
	s.HitBlocks = clamp(s.HitBlocks, from, to)
	if len(s.Distance) == 0 {
		return true
	}
	from, to = inside(r.p, max(hits, 1), h.k)
	if from >= to {
		s.Distance = nil
		return false
	}
	s.Distance = clamp(s.Distance, from, to)
	return true
}

// clamp returns v with the values outside [from, to) replaced by those at its
// ends.
func clamp(v []spec.Num, from, to int) []spec.Num {
	out := make([]spec.Num, len(v))
	for i := range v {
		out[i] = v[min(max(i, from), to-1)]
	}
	return out
}

// reuse is what the strata of a reuse table share.
type reuse struct {
	p    []spec.Num
	root float64 // blocks of the most shared beginning
}

// hits returns about how many records of a stratum hit deeper than the common
// root. The spec does not count them, so it is read off the table of depths.
func (r reuse) hits(s spec.ReuseStratum) float64 {
	for i, d := range s.HitBlocks {
		if float64(d) > r.root {
			return float64((1 - float64(r.p[i])) * float64(s.N))
		}
	}
	return 0
}

func (r reuse) join(a, b spec.ReuseStratum) spec.ReuseStratum {
	out := spec.ReuseStratum{Upto: b.Upto, N: a.N + b.N,
		HitBlocks: mix(r.p, part{float64(a.N), r.p, a.HitBlocks}, part{float64(b.N), r.p, b.HitBlocks})}
	switch {
	case len(a.Distance) == 0:
		out.Distance = b.Distance
	case len(b.Distance) == 0:
		out.Distance = a.Distance
	default:
		out.Distance = mix(r.p, part{1 + r.hits(a), r.p, a.Distance}, part{1 + r.hits(b), r.p, b.Distance})
	}
	return out
}
