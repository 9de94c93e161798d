package fit

import (
	"fmt"
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

// minWeek is the shortest log of which a week profile is told.
const minWeek = 24 * 3600 * second

// weekSection adds the busiest hour by the clock, and for a day or more the rate
// by hour of the week. Hours that the log covers in part are left out.
func weekSection(a *spec.Arrivals, clock trace.Time, times []int64) {
	zero, ok := weekStart(clock)
	if !ok {
		return
	}
	const hour = 3600 * second
	first, last := times[0], times[len(times)-1]
	from := (first + zero + hour - 1) / hour
	to := (last + zero) / hour // hours [from, to) are covered whole
	if to <= from {
		return
	}
	counts := make([]int64, to-from)
	for _, at := range times {
		if h := (at+zero)/hour - from; h >= 0 && h < int64(len(counts)) {
			counts[h]++
		}
	}
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	start := (from+int64(best))*hour - zero
	a.ClockHour = &spec.PeakWindow{Provenance: spec.Provenance{From: spec.Measured, N: counts[best]}, StartS: spec.Round(seconds(start)),
		WidthS: 3600, Rate: spec.Round(float64(counts[best]) / 3600), Label: label(clock, start)}
	if last-first >= minWeek {
		a.Week = weekProfile(counts, from)
	}
}

func weekProfile(counts []int64, from int64) *spec.WeekProfile {
	var sum, n [spec.WeekHours]int64
	total := int64(0)
	for i, c := range counts {
		h := (from + int64(i)) % spec.WeekHours
		sum[h] += c
		n[h]++
		total += c
	}
	p := &spec.WeekProfile{Provenance: spec.Provenance{From: spec.Measured, N: total}, Zone: "UTC",
		Weeks: spec.Round(float64(len(counts)) / spec.WeekHours), Rates: make([]spec.Num, spec.WeekHours)}
	for h := range p.Rates {
		p.Rates[h] = -1
		if n[h] > 0 {
			p.Rates[h] = spec.Round(float64(sum[h]) / float64(n[h]) / 3600)
		}
	}
	return p
}

// weekStart is the offset of the trace's zero from Monday 00:00, in µs; ok is
// false without a calendar.
func weekStart(clock trace.Time) (int64, bool) {
	var day time.Weekday
	var d, h, m, s int
	switch clock.Calendar {
	case trace.CalendarDate:
		at, err := time.Parse(time.RFC3339Nano, clock.Zero)
		if err != nil {
			return 0, false
		}
		at = at.UTC()
		day, h, m, s = at.Weekday(), at.Hour(), at.Minute(), at.Second()
	case trace.CalendarHourOfWeek:
		var name string
		if n, _ := fmt.Sscanf(clock.Zero, "%3s %d:%d:%d", &name, &h, &m, &s); n < 3 {
			return 0, false
		}
		for i := time.Sunday; i <= time.Saturday; i++ {
			if i.String()[:3] == name {
				day, d = i, 1
			}
		}
		if d == 0 {
			return 0, false
		}
	default:
		return 0, false
	}
	d = (int(day) + 6) % 7
	return int64(((d*24+h)*60+m)*60+s) * second, true
}
