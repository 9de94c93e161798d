package bundle

import (
	"math"

	"reprise/trace/spec"
)

// optional cuts the ends of a table that a spec can do without, and drops it
// where nothing would stay.
func (h *holder) optional(key string, t **spec.Table) {
	if *t == nil {
		return
	}
	if err := h.table(key, *t); err != nil {
		*t = nil
		h.back("%s", key)
	}
}

// drop holds an optional part back whatever is behind it, unless a person stated
// it, and says why.
func drop[T any](h *holder, key, why string, from spec.From, v **T) {
	if *v != nil && counted(from) {
		*v = nil
		h.back("%s: %s", key, why)
	}
}

const oneMoves = "one request can move it"

// lengthExtras holds back what length does not: atoms of few requests, a cap
// that lies beyond the table that leaves, the tail.
func (h *holder) lengthExtras(key string, l *spec.Length) {
	l.Atoms = keep(h, key+".atoms", l.Atoms, func(a spec.Atom) bool {
		return !counted(a.From) || h.enough(behind(a.Share, a.N, l.Quantiles.N)) && a.Value <= top(*l)
	})
	if c := l.Cap; c != nil && counted(c.From) && (!h.enough(behind(c.Share, c.N, l.Quantiles.N)) || c.Value > top(*l)) {
		l.Cap = nil
		h.back("%s.cap", key)
	}
	if l.Tail != nil {
		drop(h, key+".tail", "one request can move the parameters", l.Tail.From, &l.Tail)
	}
	h.share(key+".censored", &l.Censored)
}

// lengthRest holds back what is told of both lengths together. It comes after
// the features, since a class leaves only under a name that leaves.
func (h *holder) lengthRest(w *spec.Workload) error {
	l, key := &w.Lengths, "workload.lengths"
	if d := l.Dependence; d != nil && counted(d.From) && d.N < h.k {
		drop(h, key+".dependence", "few requests", d.From, &l.Dependence)
	}
	if d := l.Drift; d != nil {
		drop(h, key+".drift", "one request can move the ratios of means", d.From, &l.Drift)
	}
	if b := l.Between; b != nil {
		drop(h, key+".between_clients", oneMoves, b.From, &l.Between)
	}
	l.Classes = keep(h, key+".classes", l.Classes, func(c spec.ClassLengths) bool {
		return !counted(c.From) || c.N >= solid*h.k && named(w, c.Kind, c.Alias)
	})
	for i := range l.Classes {
		c := &l.Classes[i]
		for _, t := range []*spec.Table{&c.Input, &c.Output} {
			if err := h.table(key+".classes", t); err != nil {
				l.Classes = nil
				h.back("%s.classes", key)
				return nil
			}
		}
	}
	return nil
}

// named says whether a model or an adapter leaves under its alias.
func named(w *spec.Workload, kind, alias string) bool {
	list := w.Features.Models
	if kind == spec.KindAdapter {
		list = w.Features.Adapters
	}
	for _, s := range list {
		if s.Alias == alias && alias != other {
			return true
		}
	}
	return false
}

// arrivalExtras holds back what arrivals does not.
func (h *holder) arrivalExtras(w *spec.Workload) error {
	a := &w.Arrivals
	if p := a.ClockHour; p != nil && counted(p.From) && !h.enough(float64(p.Rate)*float64(p.WidthS)) {
		a.ClockHour = nil
		h.back("%s.peak_clock_hour", arrivalsKey)
	}
	a.IDI = keep(h, arrivalsKey+".idi", a.IDI, func(g spec.GapsValue) bool { return !counted(g.From) }) // one gap can move it
	if r := a.Rescaling; r != nil && r.N < h.k {
		drop(h, arrivalsKey+".time_rescaling", "few requests", r.From, &a.Rescaling)
	}
	a.Variants = keep(h, arrivalsKey+".variants", a.Variants, func(v spec.Variant) bool { return !counted(v.From) || v.N >= h.k })
	h.week(a)
	return h.jobs(w)
}

// week drops the hours of the week profile in which fewer than k requests came.
func (h *holder) week(a *spec.Arrivals) {
	p := a.Week
	if p == nil || !counted(p.From) {
		return
	}
	if p.N < h.k {
		drop(h, arrivalsKey+".week_profile", "few requests", p.From, &a.Week)
		return
	}
	thin := 0
	for i, r := range p.Rates {
		if r > 0 && !h.enough(float64(r)*3600) {
			p.Rates[i] = -1
			thin++
		}
	}
	if thin > 0 {
		h.back("%s.week_profile.rates: %d hours", arrivalsKey, thin)
	}
}

// jobs drops a batch of few requests that a log told; its lengths are held to
// the rules of lengths.
func (h *holder) jobs(w *spec.Workload) error {
	w.Jobs = keep(h, "workload.jobs", w.Jobs, func(j spec.Job) bool {
		return !counted(j.Requests.From) || h.enough(float64(j.Requests.Value))
	})
	for i := range w.Jobs {
		for _, l := range []*spec.Length{w.Jobs[i].Input, w.Jobs[i].Output} {
			if l == nil {
				continue
			}
			if err := h.length("workload.jobs.lengths", l); err != nil {
				return err
			}
		}
	}
	return nil
}

// sixteens rounds a number of tokens up: an exact one would confirm a guess.
func sixteens(v spec.Num) spec.Num { return spec.Round(math.Ceil(float64(v)/16) * 16) }

// sharing holds back what prefix does not. It comes after the features.
func (h *holder) sharing(w *spec.Workload) error {
	p := &w.Prefix
	p.Identical = keep(h, prefixKey+".common_prefix", p.Identical, func(c spec.CommonPrefix) bool {
		if !counted(c.From) {
			return true
		}
		have := float64(c.Share) * float64(c.N)
		return c.N >= h.k && h.group(have) && h.group(float64(c.N)-have) && (c.Kind == spec.KindAll || named(w, c.Kind, c.Alias))
	})
	for i := range p.Identical {
		if c := &p.Identical[i]; counted(c.From) && (c.Exact || c.Tokens != sixteens(c.Tokens)) {
			c.Tokens, c.Exact = sixteens(c.Tokens), false
			h.back("%s.common_prefix: exact length", prefixKey)
		}
	}
	h.share(prefixKey+".share_beyond_common", &p.ShareBeyond)
	p.Curve = keep(h, prefixKey+".cache_curve", p.Curve, func(c spec.CachePoint) bool { return !counted(c.From) || c.N >= h.k })
	if t := p.ReuseTimes; t != nil { // its records are blocks
		drop(h, prefixKey+".reuse_times_s", "a prompt of many blocks can move it", t.From, &p.ReuseTimes)
	}
	if g := p.Generated; g != nil && g.N < h.k {
		drop(h, prefixKey+".generated", "few turns", g.From, &p.Generated)
	}
	p.SetBroken(h.broken(p.AllBroken()))
	return nil
}

// broken keeps the broken prefixes of many requests, their lengths rounded up.
func (h *holder) broken(all []spec.Broken) []spec.Broken {
	before := 0.0 // requests of the row before, of which a further field has some; none where it goes
	out := keep(h, prefixKey+".broken", all, func(b spec.Broken) bool {
		have := float64(b.Share) * float64(b.N)
		stays := !counted(b.From) || h.enough(have) && h.group(float64(b.N)-have) && (!b.Behind || h.group(before-have))
		stays = stays && (!b.Behind || before > 0)
		if before = 0; stays {
			before = have
		}
		return stays
	})
	exact := false
	for i := range out {
		if b := &out[i]; counted(b.From) {
			b.Now, b.Would, b.At = sixteens(b.Now), sixteens(b.Would), sixteens(b.At)
			exact = true
		}
	}
	if exact {
		h.back("%s.broken: exact lengths", prefixKey)
	}
	return out
}
