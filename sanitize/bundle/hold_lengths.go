package bundle

import (
	"fmt"
	"math"
	"slices"

	"reprise/trace/spec"
)

// lengths holds back the ends of the length tables and what exact extremes
// would show through.
func (h *holder) lengths(w *spec.Workload) error {
	l := &w.Lengths
	if err := h.length("workload.lengths.input", &l.Input); err != nil {
		return err
	}
	if err := h.length("workload.lengths.output", &l.Output); err != nil {
		return err
	}
	h.number("workload.lengths.spearman", &l.Spearman)
	l.Joint = h.joint("workload.lengths.joint", l.Joint, top(l.Input), &l.Output.Quantiles)
	return nil
}

func top(l spec.Length) spec.Num { return l.Quantiles.Values[len(l.Quantiles.Values)-1] }

func (h *holder) length(key string, l *spec.Length) error {
	if err := h.table(key+".quantiles", &l.Quantiles); err != nil {
		return err
	}
	if counted(l.Mean.From) {
		l.Mean.Value = spec.Round(tableMean(l.Quantiles.P, l.Quantiles.Values))
		l.Mean.From = spec.Estimate
		h.back("%s.mean: the exact mean; the mean of the quantiles that leave stands in its place", key)
	}
	h.moved(key+".sd", &l.SD)
	if counted(l.Quantiles.From) && len(l.Families) > 0 {
		l.Families = nil
		h.back("%s.families: one request can move the parameters", key)
	}
	h.lengthExtras(key, l)
	return nil
}

// table drops the points of a table that fewer than k records lie beyond. A
// table of which nothing would stay is an error.
func (h *holder) table(key string, t *spec.Table) error {
	if !counted(t.From) {
		return nil
	}
	if t.N < 2*h.k {
		return fmt.Errorf("%s rests on %d records, and k = %d asks for %d at least: collect a longer log", key, t.N, h.k, 2*h.k)
	}
	from, to := inside(t.P, t.N, h.k)
	if from == to {
		return fmt.Errorf("%s has no quantile with k = %d records on either side", key, h.k)
	}
	h.ends(key, t.P, from, to)
	t.P, t.Values = t.P[from:to], t.Values[from:to]
	return nil
}

// ends lists which quantiles were dropped.
func (h *holder) ends(key string, p []spec.Num, from, to int) {
	if from > 0 {
		h.back("%s: p<%v", key, float64(p[from]))
	}
	if to < len(p) {
		h.back("%s: p>%v", key, float64(p[to-1]))
	}
}

// joint merges strata of inputs upward until each has enough records, and cuts
// the ends of their tables; outputs is the table of all outputs as it leaves.
// The last bound, an exact maximum, becomes the highest input that leaves.
func (h *holder) joint(key string, j *spec.Joint, top spec.Num, outputs *spec.Table) *spec.Joint {
	if j == nil || !counted(j.From) {
		return j
	}
	strata := mergeUp(j.Strata, h.stratumStays, mixStrata, func(s spec.Stratum) bool { return s.Upto < top })
	if len(strata) < 2 { // one stratum says no more than the table of all outputs
		h.back("%s", key)
		return nil
	}
	if n := len(strata); n < len(j.Strata) {
		h.back("%s.strata: %d merged into %d", key, len(j.Strata), n)
	}
	if h.tails(strata, outputs) {
		j.From = spec.Estimate
		h.back("%s.strata: quantiles outside k/n to 1-k/n; the top of the table of all outputs stands for their tops", key)
	}
	if last := len(strata) - 1; strata[last].Upto != top {
		strata[last].Upto = top
		h.back("%s.strata: the largest input", key)
	}
	j.Strata = strata
	return j
}

// tails cuts the ends of the strata's tables. A stratum has fewer records than
// the log, so its own 1-k/n lies lower, and long outputs would go missing; what
// it loses above, it gets from the top of the table of all outputs, of as much
// mass as all strata lose. That says nothing which that table does not say.
func (h *holder) tails(strata []spec.Stratum, outputs *spec.Table) (cut bool) {
	var n, lost float64
	for _, s := range strata {
		_, to := inside(s.P, s.N, h.k)
		n += float64(s.N)
		lost += float64(float64(s.N) * (1 - float64(s.P[to-1])))
	}
	for i := range strata {
		s := &strata[i]
		from, to := inside(s.P, s.N, h.k)
		cut = cut || from > 0 || to < len(s.P)
		last := s.P[to-1]
		v := append([]spec.Num{}, s.Output[from:to]...)
		for _, p := range s.P[to:] {
			u := 1 - float64(lost/n*float64(1-p)/float64(1-last))
			v = append(v, max(v[len(v)-1], spec.Round(math.Round(at(outputs.P, outputs.Values, u)))))
		}
		s.P, s.Output = s.P[from:], v
	}
	return cut
}

func (h *holder) stratumStays(s spec.Stratum) bool {
	from, to := inside(s.P, max(s.N, 1), h.k)
	return s.N >= solid*h.k && from < to
}

// solid times k records is what a conditional table needs: k/n is then at most
// 5 %, so that cutting its ends leaves its shape.
const solid = 20

func mixStrata(a, b spec.Stratum) spec.Stratum {
	p := a.P
	if len(b.P) > len(p) {
		p = b.P
	}
	return spec.Stratum{Upto: b.Upto, N: a.N + b.N, P: p,
		Output: mix(p, part{float64(a.N), a.P, a.Output}, part{float64(b.N), b.P, b.Output})}
}

// mergeUp joins each group with the next one until stays holds, and the last
// ones so that only the last reaches the top (below is false for it). It
// returns nothing when all groups together are not enough.
func mergeUp[S any](in []S, stays func(S) bool, join func(a, b S) S, below func(S) bool) []S {
	var out []S
	var open *S
	for _, s := range in {
		if open != nil {
			s = join(*open, s)
		}
		open = &s
		if stays(s) && below(s) {
			out, open = append(out, s), nil
		}
	}
	if open != nil && stays(*open) {
		return append(out, *open)
	}
	if open != nil && len(out) > 0 {
		last := len(out) - 1
		return append(slices.Clone(out[:last]), join(out[last], *open))
	}
	return out
}
