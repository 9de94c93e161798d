package fit

import (
	"fmt"
	"time"

	"reprise/trace"
	"reprise/trace/spec"
)

// peakWidths are the widths at which peak-to-mean is told.
var peakWidths = []int64{second, 10 * second, 60 * second, 3600 * second}

const noteShort = "the log is no longer than an hour, so its peak hour is all of it"

func arrivalSection(clock trace.Time, r *rows, zone *time.Location) (spec.Arrivals, error) {
	if !r.timed {
		return spec.Arrivals{Process: spec.ProcessUnknown,
			Rate:  spec.AssumedNumber(0, "1/s", "the arrival time of each request"),
			Notes: []string{"the log has no arrival times: no rate, burstiness or peak can be told, and none is made up"}}, nil
	}
	times := r.times
	s, err := Arrivals(times)
	if err != nil {
		return spec.Arrivals{}, err
	}
	n := int64(len(times))
	number := func(st Stat, unit string) *spec.Number {
		if !st.OK() {
			return nil
		}
		v := spec.MeasuredNumber(st.Value, unit, n)
		return &v
	}
	from := spec.Provenance{From: spec.Measured, N: n}
	a := spec.Arrivals{Process: spec.ProcessCounts, Span: number(value(s.SpanS), "s"), CV: number(s.Gaps.CV, "1"),
		LocalCV: number(s.Local.CVMedian, "1")}
	a.Rate = spec.MeasuredNumber(s.Rate.Value, "1/s", n)
	if !s.Rate.OK() {
		a.Rate = spec.AssumedNumber(0, "1/s", "more than one arrival time")
	}
	if s.Clock.StepUS > 0 {
		a.Resolution = number(value(seconds(s.Clock.StepUS)), "s")
	}
	a.Gamma = gammaSection(s.Gaps, number)
	why(&a.Notes, "CV of gaps", s.Gaps.CV)
	why(&a.Notes, "local CV", s.Local.CVMedian)
	why(&a.Notes, "gamma shape by MLE", s.Gaps.MLE)
	scales(&a, s, from)
	gapScales(&a, times, s.Clock, from)
	if err = weekSection(&a, clock, times, zone); err != nil {
		return a, err
	}
	if a.Rates, err = rateSeries(clock, times, from); err != nil {
		return a, err
	}
	a.Split = splitSection(times, s.Clock, int64(float64(a.Rates.WidthS)*1e6), from)
	a.PeakHour = &spec.PeakWindow{Provenance: spec.Provenance{From: spec.Measured, N: s.PeakHour.N},
		StartS: spec.Round(seconds(s.PeakHour.FromUS)), WidthS: spec.Round(seconds(s.PeakHour.ToUS - s.PeakHour.FromUS)),
		Rate: spec.Round(s.PeakHour.Rate), Label: label(clock, s.PeakHour.FromUS)}
	if s.PeakHour.Whole {
		a.Notes = append(a.Notes, noteShort)
	}
	return a, nil
}

// clockChange warns of arrivals that may be an hour off.
func clockChange(a *spec.Arrivals, h trace.Header) {
	if h.Counting == nil || h.Counting.Clock == nil {
		return
	}
	if n := h.Counting.Clock.Either; n > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("%d arrivals are in an hour that the clock showed twice, and nothing tells which: taken as the first, they make its rate too high, and the busiest hour may be that one; ingest the log with times in UTC", n))
	}
	if n := h.Counting.Clock.Skipped; n > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("%d arrivals are at times that the clock of the zone skipped: is it the zone of the log?", n))
	}
}

// label is the calendar's label of an offset, empty without calendar.
func label(clock trace.Time, offset int64) string {
	text, err := clock.Label(offset)
	if err != nil {
		return ""
	}
	return text
}

func gammaSection(g GapStats, number func(Stat, string) *spec.Number) *spec.GammaShape {
	if !g.Moments.OK() && !g.MLE.OK() {
		return nil
	}
	out := &spec.GammaShape{Moments: number(g.Moments, "1"), MLE: number(g.MLE, "1")}
	if g.Moments.OK() && g.MLE.OK() {
		if r := g.Moments.Value / g.MLE.Value; r > 2 || r < 0.5 {
			out.Warning = fmt.Sprintf("the gamma shapes by moments (%.3g) and by MLE (%.3g) differ by more than a factor of 2: gaps are not gamma", g.Moments.Value, g.MLE.Value)
		}
	}
	return out
}

// scales fills in what is told at each width.
func scales(a *spec.Arrivals, s ArrivalStats, from spec.Provenance) {
	for _, b := range s.Bins {
		width := spec.Round(seconds(b.WidthUS))
		if b.IDC.OK() {
			a.IDC = append(a.IDC, spec.ScaleValue{Provenance: from, WidthS: width, Value: spec.Round(b.IDC.Value)})
		}
		for _, w := range peakWidths {
			if w != b.WidthUS {
				continue
			}
			why(&a.Notes, fmt.Sprintf("peak-to-mean at %v s", width), b.PeakToMean)
			if b.PeakToMean.OK() {
				a.PeakToMean = append(a.PeakToMean, spec.Peak{Provenance: from, WidthS: width, Value: spec.Round(b.PeakToMean.Value),
					PoissonP5: spec.Round(b.Poisson.P5), PoissonP50: spec.Round(b.Poisson.P50), PoissonP95: spec.Round(b.Poisson.P95)})
			}
		}
	}
}

// maxBins is the most bins of a rate series before bins get wider, so that the
// spec of a long log stays readable: two days of minutes.
const maxBins = 2880

// wideBins are the bins above a minute that a rate series may have, each a
// multiple of the next.
func wideBins() []int64 {
	return []int64{3600 * second, 1800 * second, 600 * second, 300 * second}
}

// seriesWidth is a minute; finer where the trace is under ten minutes, wider
// where it has over maxBins of them.
func seriesWidth(last int64) int64 {
	for _, w := range SplitChain() {
		if w < second || last < 10*w {
			continue
		}
		for _, wider := range []int64{1, 5, 10, 30, 60} {
			if last/(wider*w) < maxBins {
				return wider * w
			}
		}
		return 60 * w
	}
	return second
}

// rateSeries counts from the trace's zero.
func rateSeries(clock trace.Time, times []int64, from spec.Provenance) (*spec.RateSeries, error) {
	last := times[len(times)-1]
	width := seriesWidth(last)
	counts, err := Series(times, 0, width)
	if err != nil {
		return nil, err
	}
	// The last arrival is inside the last bin, which ends just after it.
	rest := last - int64(len(counts)-1)*width + 1
	return &spec.RateSeries{Provenance: from, WidthS: spec.Round(seconds(width)), LastS: spec.Round(seconds(min(rest, width))),
		Zero: label(clock, 0), Counts: counts}, nil
}

// splitSection follows the chain down from the width of the rate series, as far
// as the clock carries. The series of a long log has bins wider than the chain's.
func splitSection(times []int64, clock Resolution, width int64, from spec.Provenance) *spec.Split {
	chain := append(wideBins(), SplitChain()...)
	for len(chain) > 0 && chain[0] > width {
		chain = chain[1:]
	}
	out := &spec.Split{Provenance: from}
	for _, st := range SplitRho(times, chain, clock) {
		if !st.Rho.OK() || !st.NullSD.OK() {
			break
		}
		out.Steps = append(out.Steps, spec.SplitStep{ParentS: spec.Round(seconds(st.ParentUS)), ChildS: spec.Round(seconds(st.ChildUS)),
			Rho: spec.Round(st.Rho.Value), NullSD: spec.Round(st.NullSD.Value)})
	}
	if len(out.Steps) == 0 {
		return nil
	}
	return out
}
