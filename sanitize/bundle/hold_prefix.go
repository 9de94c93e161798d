package bundle

import (
	"math"

	"reprise/trace/spec"
)

const prefixKey = "workload.prefix"

// prefix holds back beginnings that few requests share and the ends of the
// reuse tables.
func (h *holder) prefix(w *spec.Workload) error {
	p := &w.Prefix
	h.share(prefixKey+".share_requests", &p.ShareRequests)
	p.HitRates = keep(h, prefixKey+".hit_rates", p.HitRates, func(r spec.HitRate) bool {
		return !counted(r.From) || r.N >= h.k
	})
	p.Roots = keep(h, prefixKey+".roots", p.Roots, func(r spec.Root) bool {
		return !counted(r.From) || h.enough(float64(r.Share)*float64(r.N))
	})
	for i := range p.Roots {
		h.rootLength(&p.Roots[i])
	}
	p.Model = h.reuse(p, top(w.Lengths.Input))
	p.Notes = h.remarks(prefixKey+".notes", p.Notes)
	return nil
}

// rootLength rounds the length of a shared beginning up to 16 tokens: the exact
// length of a system prompt would confirm a guess at it.
func (h *holder) rootLength(r *spec.Root) {
	up := spec.Round(math.Ceil(float64(r.Tokens)/16) * 16)
	if counted(r.From) && up != r.Tokens {
		r.Tokens = up
		h.back("%s.roots: exact length of a shared beginning", prefixKey)
	}
}

// reuse merges strata upward and cuts the probabilities, which all strata
// share, to what the thinnest one carries.
func (h *holder) reuse(p *spec.Prefix, top spec.Num) *spec.Reuse {
	m := p.Model
	if m == nil || !counted(m.From) {
		return m
	}
	key := prefixKey + ".reuse"
	root := 0.0
	if len(p.Roots) > 0 {
		root = float64(p.Roots[0].Tokens) / float64(p.BlockTokens)
	}
	r := reuse{p: m.P, root: root}
	strata := mergeUp(m.Strata, func(s spec.ReuseStratum) bool { return s.N >= solid*h.k }, r.join,
		func(s spec.ReuseStratum) bool { return s.Upto < top })
	if len(strata) == 0 {
		strata = mergeUp(m.Strata, func(s spec.ReuseStratum) bool { return s.N >= 2*h.k }, r.join,
			func(spec.ReuseStratum) bool { return false })
	}
	if len(strata) == 0 {
		h.back("%s", key)
		return nil
	}
	if n := len(strata); n < len(m.Strata) {
		h.back("%s.strata: %d merged into %d", key, len(m.Strata), n)
	}
	thinnest := h.distances(key, r, strata)
	from, to := inside(m.P, thinnest, h.k)
	if from == to {
		h.back("%s", key)
		return nil
	}
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

// distances drops the distance tables of strata with too few hits, and returns
// the smallest number of records behind a table that stays.
func (h *holder) distances(key string, r reuse, strata []spec.ReuseStratum) int64 {
	thinnest := strata[0].N
	for i := range strata {
		s := &strata[i]
		thinnest = min(thinnest, s.N)
		if len(s.Distance) == 0 {
			continue
		}
		hits := int64(r.hits(*s))
		if hits < solid*h.k {
			s.Distance = nil
			h.back("%s.strata[%d].distance", key, i)
			continue
		}
		thinnest = min(thinnest, hits)
	}
	return thinnest
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
