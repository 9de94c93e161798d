package bundle

import (
	"math"
	"slices"

	"reprise/trace/spec"
)

const ratesKey = arrivalsKey + ".rate_series"

// rates takes the finest of the widths in which every bin is empty or has k
// arrivals: the series' own, then 1, 5, 15 and 60 minutes. Where none does, the
// series is held back and the process becomes Poisson at the mean rate.
func (h *holder) rates(a *spec.Arrivals) {
	r := a.Rates
	if r == nil || !counted(r.From) {
		return
	}
	if len(r.Counts) > 0 && r.LastS > 0 {
		for _, w := range append([]float64{float64(r.WidthS)}, 60, 300, 900, 3600) {
			m := math.Round(w / float64(r.WidthS))
			if m < 1 || math.Abs(m*float64(r.WidthS)-w) > 1e-9*w {
				continue
			}
			if s := h.fit(coarsen(r, int(m))); s != nil {
				h.take(a, s, int(m))
				return
			}
		}
	}
	a.Rates = nil
	h.back("%s", ratesKey)
	if a.Process == spec.ProcessCounts {
		a.Process = spec.ProcessPoisson
		if a.Split != nil {
			a.Split = nil
			h.back("%s.split: it starts from the rate series", arrivalsKey)
		}
	}
}

// take puts the series s, whose bins are m of the old, in place.
func (h *holder) take(a *spec.Arrivals, s *spec.RateSeries, m int) {
	old := a.Rates
	if m > 1 {
		h.back("%s: bins of less than %v s", ratesKey, float64(s.WidthS))
		a.Split = h.longerSplit(a.Split, old, s, m)
	}
	if dropped := (len(old.Counts)+m-1)/m - len(s.Counts); dropped > 0 {
		h.back("%s.counts: the last %d bins", ratesKey, dropped)
	}
	s.LastS = spec.Num(min(math.Ceil(float64(s.LastS)), float64(s.WidthS)))
	s.N = total(s.Counts)
	a.Rates = s
}

// fit returns the series if every bin is empty or has k arrivals. A last bin
// that is cut off and too thin goes, with as many before it as it takes to
// keep the difference from the total at k.
func (h *holder) fit(r *spec.RateSeries) *spec.RateSeries {
	n := len(r.Counts)
	var gone int64
	for r.LastS < r.WidthS && n > 0 && !h.whole(r.Counts[n-1:n]) || gone > 0 && gone < h.k {
		if n <= 1 {
			return nil
		}
		n--
		gone += r.Counts[n]
		r.LastS = r.WidthS
	}
	if n == 0 || !h.whole(r.Counts[:n]) {
		return nil
	}
	r.Counts = r.Counts[:n]
	return r
}

func (h *holder) whole(counts []int64) bool {
	for _, c := range counts {
		if c > 0 && c < h.k {
			return false
		}
	}
	return true
}

// coarsen joins m bins into one.
func coarsen(r *spec.RateSeries, m int) *spec.RateSeries {
	out := *r
	out.WidthS = spec.Round(float64(r.WidthS) * float64(m))
	out.Counts = nil
	for chunk := range slices.Chunk(r.Counts, m) {
		out.Counts = append(out.Counts, total(chunk))
		out.LastS = spec.Round(float64(float64(len(chunk)-1)*float64(r.WidthS)) + float64(r.LastS))
	}
	return &out
}

// longerSplit puts the step from the new bins to the old ones before the steps
// of a split, so that what the coarser series lost in burstiness is kept.
func (h *holder) longerSplit(s *spec.Split, old, coarse *spec.RateSeries, m int) *spec.Split {
	if s == nil || len(s.Steps) == 0 || s.Steps[0].ParentS != old.WidthS {
		return s
	}
	rho, sd, ok := dispersion(old.Counts[:min(len(old.Counts), len(coarse.Counts)*m)], m)
	if !ok {
		h.back("%s.split", arrivalsKey)
		return nil
	}
	step := spec.SplitStep{ParentS: coarse.WidthS, ChildS: old.WidthS, Rho: spec.Round(rho), NullSD: spec.Round(sd)}
	s.Steps = append([]spec.SplitStep{step}, s.Steps...)
	return s
}

// dispersion estimates how unevenly arrivals of a parent of m bins spread over
// its children: (m·ΣΣ l(l-1) / Σ n(n-1) - 1)/(m-1), with the null's standard
// deviation √(2/((m-1)Σn(n-1))) (statistics.md §3.2). Only whole parents count.
func dispersion(counts []int64, m int) (rho, sd float64, ok bool) {
	var within, pairs float64
	for chunk := range slices.Chunk(counts, m) {
		if len(chunk) < m {
			break
		}
		for _, c := range chunk {
			within += float64(float64(c) * float64(c-1))
		}
		n := float64(total(chunk))
		pairs += float64(n * (n - 1))
	}
	if pairs <= 0 {
		return 0, 0, false
	}
	k := float64(m)
	return (k*within/pairs - 1) / (k - 1), math.Sqrt(2 / ((k - 1) * pairs)), true
}
