package bundle

import (
	"fmt"
	"math"

	"reprise/trace/spec"
)

const arrivalsKey = "workload.arrivals"

// arrivals holds back what single arrivals show through: thin bins, peaks of a
// few requests, and the exact ends of the log.
func (h *holder) arrivals(w *spec.Workload) error {
	a := &w.Arrivals
	if !counted(a.Rate.From) {
		return nil
	}
	if a.Rate.N < h.k {
		return fmt.Errorf("%s.rate rests on %d records, fewer than k = %d: collect a longer log", arrivalsKey, a.Rate.N, h.k)
	}
	h.peaks(a) // needs the exact span
	h.rates(a)
	h.span(a)
	a.IDC = keep(h, arrivalsKey+".idc", a.IDC, func(s spec.ScaleValue) bool { return s.N >= h.k })
	h.moved(arrivalsKey+".cv", &a.CV)
	h.number(arrivalsKey+".local_cv", &a.LocalCV)
	if a.Gamma != nil {
		a.Gamma = nil
		h.back("%s.gamma_shape: one gap can move it", arrivalsKey)
	}
	a.Notes = h.remarks(arrivalsKey+".notes", a.Notes)
	return nil
}

// keep drops the entries of a list that do not stay.
func keep[S any](h *holder, key string, in []S, stays func(S) bool) []S {
	var out []S
	for _, s := range in {
		if stays(s) {
			out = append(out, s)
		}
	}
	if n := len(in) - len(out); n > 0 {
		h.back("%s: %d of %d", key, n, len(in))
	}
	return out
}

// peaks drops peaks of fewer than k requests, and cuts where the busiest
// window starts to the full minute.
func (h *holder) peaks(a *spec.Arrivals) {
	a.PeakToMean = keep(h, arrivalsKey+".peak_to_mean", a.PeakToMean, func(p spec.Peak) bool {
		return !counted(p.From) || h.enough(float64(p.Value)*float64(a.Rate.Value)*float64(p.WidthS))
	})
	p := a.PeakHour
	if p == nil || !counted(p.From) {
		return
	}
	if !h.enough(float64(p.Rate) * float64(p.WidthS)) {
		a.PeakHour = nil
		h.back("%s.peak_hour", arrivalsKey)
		return
	}
	if a.Span != nil && p.WidthS >= a.Span.Value {
		return // all of the log: see span
	}
	if start := spec.Num(math.Floor(float64(p.StartS)/60) * 60); start != p.StartS {
		p.StartS = start
		h.back("%s.peak_hour.start_s: seconds", arrivalsKey)
	}
}

// span replaces the exact time between the first and the last arrival by what
// the bins that leave cover, or by full minutes, and the rate to match.
func (h *holder) span(a *spec.Arrivals) {
	if a.Span == nil || !counted(a.Span.From) || a.Span.Value <= 0 {
		return
	}
	whole := a.PeakHour != nil && a.PeakHour.WidthS >= a.Span.Value
	n, seconds := float64(a.Rate.N), math.Ceil(float64(a.Span.Value)/60)*60
	if r := a.Rates; r != nil {
		n, seconds = float64(total(r.Counts)), duration(r)
	}
	a.Rate.Value, a.Rate.N = spec.Round(n/seconds), int64(n)
	a.Span.Value, a.Span.N = spec.Round(seconds), int64(n)
	if whole {
		p := a.PeakHour
		p.StartS, p.WidthS, p.Rate, p.N = 0, a.Span.Value, a.Rate.Value, a.Rate.N
		h.back("%s.peak_hour.width_s: the exact time from the first arrival to the last", arrivalsKey)
	}
	h.back("%s.span: the exact time from the first arrival to the last", arrivalsKey)
}

func duration(r *spec.RateSeries) float64 {
	return float64(float64(len(r.Counts)-1)*float64(r.WidthS)) + float64(r.LastS)
}

func total(counts []int64) int64 {
	var n int64
	for _, c := range counts {
		n += c
	}
	return n
}
