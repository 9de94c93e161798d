package fit

import (
	"math/rand/v2"
	"time"

	"reprise/trace"
	"reprise/trace/spec"
)

// gapScales adds what gaps tell, where the clock carries gaps: dispersion of
// sums, and distance from Poisson once the rate is taken out.
func gapScales(a *spec.Arrivals, times []int64, clock Resolution, from spec.Provenance) {
	gaps := Gaps(times)
	if len(gaps) < 2 || !gapStats(gaps, clock).CV.OK() {
		return
	}
	for _, k := range IDISteps() {
		if v := IDI(gaps, k); v.OK() {
			a.IDI = append(a.IDI, spec.GapsValue{Provenance: from, Gaps: k, Value: spec.Round(v.Value)})
		}
	}
	if !gapStats(gaps, clock).MLE.OK() {
		return // ties would make KS say no of the true model too
	}
	r := Rescale(times, 60*second)
	if !r.KS.OK() {
		return
	}
	r.Simulate(times, 60*second, rand.New(rand.NewPCG(97, 97)))
	a.Rescaling = &spec.Rescaling{Provenance: from, WidthS: 60, KS: spec.Round(r.KS.Value)}
	if r.Null95.OK() {
		v := spec.Round(r.Null95.Value)
		a.Rescaling.Null95 = &v
	}
}

// minWeek is the shortest log of which a week profile is told. A log of one day
// begins a little after midnight and ends a little before the next: from its first
// arrival to its last it is under 24 hours, and covers 22 of the clock whole.
const minWeek = 23 * 3600 * second

// weekSection adds the busiest hour by the clock of zone, and for a day or more
// the rate by hour of the week. Hours that the log covers in part are left out.
func weekSection(a *spec.Arrivals, clock trace.Time, times []int64, zone *time.Location) error {
	h, err := HoursOf(clock, times, zone)
	if err != nil || len(h.Counts) == 0 {
		return err
	}
	best := 0
	for i, n := range h.Counts {
		if n > h.Counts[best] {
			best = i
		}
	}
	start := h.Start + int64(best)*hour
	a.ClockHour = &spec.PeakWindow{Provenance: spec.Provenance{From: spec.Measured, N: h.Counts[best]}, StartS: spec.Round(seconds(start)),
		WidthS: 3600, Rate: spec.Round(float64(h.Counts[best]) / 3600), Label: label(clock, start)}
	if times[len(times)-1]-times[0] >= minWeek {
		a.Week = weekProfile(h, zone)
	}
	return nil
}

func weekProfile(h Hours, zone *time.Location) *spec.WeekProfile {
	total := int64(0)
	for _, c := range h.Counts {
		total += c
	}
	p := &spec.WeekProfile{Provenance: spec.Provenance{From: spec.Measured, N: total}, Zone: zone.String(),
		Weeks: spec.Round(float64(len(h.Counts)) / spec.WeekHours), Rates: make([]spec.Num, spec.WeekHours)}
	for i, r := range h.Rates() {
		p.Rates[i] = spec.Round(r)
	}
	return p
}
