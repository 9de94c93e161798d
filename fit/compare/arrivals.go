package compare

import (
	"fmt"
	"math"

	"reprise/fit"
	"reprise/fit/dist"
	"reprise/trace/spec"
)

// scales are the widths at which peaks and dispersion are set side by side, in
// seconds.
var scales = []int64{1, 10, 60}

func peakName(w int64) string { return fmt.Sprintf("peak-to-mean at %d s", w) }
func idcName(w int64) string  { return fmt.Sprintf("IDC at %d s", w) }

// arrivals notes rate, peaks and dispersion as far as the clock carries.
func (s *side) arrivals() error {
	a, err := fit.Arrivals(s.times)
	if err != nil {
		return err
	}
	s.SpanS = some(a.SpanS)
	s.stat("rate", a.Rate)
	s.stat("local CV", a.Local.CVMedian)
	if !a.PeakHour.Whole {
		s.values[busiestName] = a.PeakHour.Rate
	}
	for _, b := range a.Bins {
		for _, w := range scales {
			if b.WidthUS == w*1e6 {
				s.stat(peakName(w), b.PeakToMean)
				s.stat(idcName(w), b.IDC)
			}
		}
	}
	s.bursty = s.values[idcName(1)] > 5
	gaps := fit.Gaps(s.times)
	if s.fine = a.Gaps.CV.OK() && a.Gaps.MLE.OK(); s.fine {
		s.gaps = dist.FromInts(gaps, 1e6)
	}
	return nil
}

func (s *side) stat(name string, v fit.Stat) {
	if v.OK() && !math.IsNaN(v.Value) {
		s.values[name] = v.Value
	}
}

func (s *side) specArrivals(a *spec.Arrivals) {
	if a.Process == spec.ProcessUnknown || a.Rate.Value == 0 {
		return
	}
	s.values["rate"] = float64(a.Rate.Value)
	if a.Span != nil {
		s.SpanS = some(float64(a.Span.Value))
	}
	if p := a.PeakHour; p != nil && a.Span != nil && a.Span.Value > p.WidthS && p.WidthS == 3600 {
		s.values[busiestName] = float64(p.Rate)
	}
	if a.Week != nil {
		s.week = &weekly{profile: a.Week}
	}
	if a.LocalCV != nil {
		s.values["local CV"] = float64(a.LocalCV.Value)
	}
	for _, w := range scales {
		for _, p := range a.PeakToMean {
			if float64(p.WidthS) == float64(w) {
				s.values[peakName(w)] = float64(p.Value)
			}
		}
		for _, v := range a.IDC {
			if float64(v.WidthS) == float64(w) {
				s.values[idcName(w)] = float64(v.Value)
			}
		}
	}
	s.bursty = s.values[idcName(1)] > 5
}
