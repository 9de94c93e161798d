package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/spec"
)

const (
	hoursName   = "hours of the day TV"
	daysName    = "days of the week TV"
	busiestName = "rate in the busiest hour"
)

// minHours is of how many hours of the day both sides must tell the rate, and
// minDays of how many hours of the week for days to compare: a log of a whole
// day covers 23 hours whole, or 24.
const (
	minHours = 20
	minDays  = 160
)

// weekly is the rate by hour of the week: of a trace, by the clock of any zone;
// of a spec, by that of its own.
type weekly struct {
	clock   trace.Time
	times   []int64
	profile *spec.WeekProfile // of a spec
	zone    *time.Location    // of a trace, where the reference has none
}

func (s *side) weekly(t *trace.Trace) {
	if t.Timed() && t.Header.Time.Calendar != trace.CalendarNone {
		s.week = &weekly{clock: t.Header.Time, times: s.times}
	}
}

// rates are those of the hours of the week by the clock of zone, -1 where they
// are not known, over a day or more.
func (w *weekly) rates(zone *time.Location) (out [spec.WeekHours]float64, err error) {
	if w.profile != nil {
		for h, r := range w.profile.Rates {
			out[h] = float64(r)
		}
		return out, nil
	}
	h, err := fit.HoursOf(w.clock, w.times, zone)
	return h.Rates(), err
}

// zoneOf is that of the spec, or the one that was asked for.
func zoneOf(a, b *weekly) (*time.Location, error) {
	for _, w := range []*weekly{a, b} {
		if w.profile == nil {
			continue
		}
		if w.profile.From == spec.Assumed {
			return nil, fmt.Errorf("the hours of the spec are stated, not measured")
		}
		if a.profile != nil && b.profile != nil && a.profile.Zone != b.profile.Zone {
			return nil, fmt.Errorf("the hours are those of %s in the one and of %s in the other", fit.ZoneName(a.profile.Zone), fit.ZoneName(b.profile.Zone))
		}
		zone, err := time.LoadLocation(w.profile.Zone)
		if err != nil {
			return nil, fmt.Errorf("the spec has no zone of the time zone database")
		}
		return zone, nil
	}
	return a.zone, nil
}

// both are the rates of both sides, by hour of the week, on one clock; err says
// why there are none.
func both(a, b *side) (ra, rb [spec.WeekHours]float64, zone *time.Location, err error) {
	switch {
	case a.week == nil:
		return ra, rb, nil, fmt.Errorf("the reference has no calendar, or covers less than a day")
	case b.week == nil:
		return ra, rb, nil, fmt.Errorf("the second has no calendar, or covers less than a day")
	}
	if zone, err = zoneOf(a.week, b.week); err != nil {
		return ra, rb, nil, err
	}
	if ra, err = a.week.rates(zone); err != nil {
		return ra, rb, nil, err
	}
	rb, err = b.week.rates(zone)
	return ra, rb, zone, err
}

// weekMetrics set side by side how the load lies over the hours of the day, over
// the days of the week, and what the busiest hour brings.
func weekMetrics(a, b *side) []Metric {
	hours := Metric{Section: sectionArrivals, Name: hoursName, Unit: "1", How: Distance}
	ra, rb, _, err := both(a, b)
	if err != nil {
		hours.Why = err.Error()
		return []Metric{hours, pair(a, b, sectionArrivals, busiestName, "1/s", Ratio)}
	}
	d, ok := apartByHour(ra, rb)
	if hours.Off = (Value{d, ok}); !ok {
		hours.Why = fmt.Sprintf("under %d hours of the day are covered by both", minHours)
	}
	out := []Metric{hours}
	if d, ok := apartByDay(ra, rb); ok {
		out = append(out, distance(sectionArrivals, daysName, d))
	}
	return append(out, pair(a, b, sectionArrivals, busiestName, "1/s", Ratio))
}

// apartByHour is the total variation between the shares of the hours of the day,
// of the hours of the week that both cover; where those are less than a day, as
// of a Monday and a Tuesday, of all that either covers.
func apartByHour(a, b [spec.WeekHours]float64) (float64, bool) {
	ma, mb := a, b
	for h := range a {
		if a[h] < 0 || b[h] < 0 {
			ma[h], mb[h] = -1, -1
		}
	}
	if d, ok := variation(byHour(ma), byHour(mb)); ok {
		return d, true
	}
	return variation(byHour(a), byHour(b))
}

// byHour are the mean rates of the hours of the day, -1 where there are none.
func byHour(week [spec.WeekHours]float64) []float64 {
	out := make([]float64, 24)
	for h := range out {
		n := 0
		for d := range 7 {
			if r := week[24*d+h]; r >= 0 {
				out[h] += r
				n++
			}
		}
		if out[h] /= float64(n); n == 0 {
			out[h] = -1
		}
	}
	return out
}

// variation is the total variation between shares of the hours that both have.
func variation(a, b []float64) (float64, bool) {
	var sa, sb, d float64
	n := 0
	for h := range a {
		if a[h] >= 0 && b[h] >= 0 {
			sa, sb, n = sa+a[h], sb+b[h], n+1
		}
	}
	if n < minHours || sa == 0 || sb == 0 {
		return 0, false
	}
	for h := range a {
		if a[h] >= 0 && b[h] >= 0 {
			d += math.Abs(a[h]/sa - b[h]/sb)
		}
	}
	return d / 2, true
}

// apartByDay is the total variation between the shares of the days, of a week
// that both cover.
func apartByDay(a, b [spec.WeekHours]float64) (d float64, ok bool) {
	var da, db [7]float64
	var sa, sb float64
	n := 0
	for h := range a {
		if a[h] >= 0 && b[h] >= 0 {
			da[h/24], db[h/24] = da[h/24]+a[h], db[h/24]+b[h]
			sa, sb, n = sa+a[h], sb+b[h], n+1
		}
	}
	if n < minDays || sa == 0 || sb == 0 {
		return 0, false
	}
	for i := range da {
		d += math.Abs(da[i]/sa - db[i]/sb)
	}
	return d / 2, true
}

// weekNoise are the metrics of the hours between a trace and itself resampled:
// each hour of another day of its kind (weekday or not), its minutes drawn with
// replacement; for days and the busiest hour, of its own minutes.
func weekNoise(s *side, zone *time.Location, rng *rand.Rand) map[string][]float64 {
	h, err := fit.HoursOf(s.week.clock, s.week.times, zone)
	if err != nil || len(h.Counts) == 0 {
		return nil
	}
	minutes := make([]int64, 60*len(h.Counts))
	for _, t := range s.week.times {
		if i := (t - h.Start) / noiseBlock; t >= h.Start && i < int64(len(minutes)) {
			minutes[i]++
		}
	}
	like := map[int][]int{} // hours of the log by hour of the day and kind of day
	kind := func(i int) int { return h.OfWeek[i]%24*2 + h.OfWeek[i]/24/5 }
	for i := range h.Counts {
		like[kind(i)] = append(like[kind(i)], i)
	}
	rates, most := h.Rates(), busiestMinutes(minutes)
	out := map[string][]float64{}
	for range noiseTimes {
		other, own := h, h
		other.Counts, own.Counts = make([]int64, len(h.Counts)), make([]int64, len(h.Counts))
		redrawn := make([]int64, len(minutes))
		for i := range h.Counts {
			from := like[kind(i)][rng.IntN(len(like[kind(i)]))]
			for m := range 60 {
				other.Counts[i] += minutes[60*from+rng.IntN(60)]
				redrawn[60*i+m] = minutes[60*i+rng.IntN(60)]
				own.Counts[i] += redrawn[60*i+m]
			}
		}
		if d, ok := apartByHour(rates, other.Rates()); ok {
			out[hoursName] = append(out[hoursName], d)
		}
		if d, ok := apartByDay(rates, own.Rates()); ok {
			out[daysName] = append(out[daysName], d)
		}
		out[busiestName] = append(out[busiestName], Ratio.of(float64(most), float64(busiestMinutes(redrawn))))
	}
	return out
}

// busiestMinutes is the largest sum of sixty minutes.
func busiestMinutes(minutes []int64) int64 {
	var sum, most int64
	for i, n := range minutes {
		if sum += n; i >= 60 {
			sum -= minutes[i-60]
		}
		most = max(most, sum)
	}
	return most
}

// untoldHours says why the hours of two logs with times are not compared.
func (r *Report) untoldHours(a, b *side) {
	if r.Limits != Drift || !a.SpanS.OK && a.Kind == "trace" || b.Kind == "trace" && b.times == nil {
		return
	}
	for _, m := range r.Metrics {
		if m.Name == hoursName && !m.Off.OK {
			r.Notes = append(r.Notes, "whether the load lies at other hours of the day is not told: "+m.Why)
		}
	}
}
