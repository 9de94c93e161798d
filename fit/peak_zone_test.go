package fit

import (
	"testing"
	"time"

	"reprise/trace"
)

// TestPeakOverDST puts a rush of ten times the rate beside a change of the clocks
// and finds the hour of the clock and the hour at any minute that it fills, as
// instants: also where an hour comes twice, where one is left out, and where hours
// begin at the half.
func TestPeakOverDST(t *testing.T) {
	for _, c := range []struct {
		zone  string
		from  string // UTC, the first of two days
		rush  string // UTC, an hour
		clock string // the clock hour with the most of it
		n     int64
		label string
		hour  int // of that Sunday, by the clock
	}{
		// 02:00 comes twice in this night: from 00:00 and from 01:00 UTC.
		{"Europe/Berlin", "2025-10-25T12:00:00Z", "2025-10-26T00:00:00Z", "2025-10-26T00:00:00Z", 600, "first 02:00", 2},
		{"Europe/Berlin", "2025-10-25T12:00:00Z", "2025-10-26T01:00:00Z", "2025-10-26T01:00:00Z", 600, "second 02:00", 2},
		{"Europe/Berlin", "2025-10-25T12:00:00Z", "2025-10-26T00:40:00Z", "2025-10-26T01:00:00Z", 420, "over both", 2},
		// 02:00 does not come: 03:00 is 01:00 UTC.
		{"Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z", 600, "behind the gap", 3},
		{"Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T00:15:00Z", "2026-03-29T00:00:00Z", 465, "over the gap", 1},
		{"Asia/Kolkata", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z", "2026-03-29T01:30:00Z", 600, "07:00 of half an hour's zone", 7},
		{"UTC", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z", "2026-03-29T01:00:00Z", 330, "the same in UTC", 1},
	} {
		zone, err := time.LoadLocation(c.zone)
		check(t, err)
		at := func(s string) time.Time {
			x, err := time.Parse(time.RFC3339, s)
			check(t, err)
			return x
		}
		zero := at(c.from)
		rush := at(c.rush).Sub(zero)
		var times []int64
		for s := range 2 * 24 * 3600 {
			d := time.Duration(s) * time.Second
			if s%60 == 0 || s%6 == 0 && d >= rush && d < rush+time.Hour {
				times = append(times, d.Microseconds())
			}
		}
		clock := trace.Time{Calendar: trace.CalendarDate, Zero: trace.ZeroLabel(trace.CalendarDate, zero)}
		a, err := arrivalSection(clock, &rows{n: int64(len(times)), timed: true, times: times}, zone)
		check(t, err)
		// Of an hour 60 come anyway, of the rush 540 more, 9 a minute.
		if h := a.ClockHour; h == nil || h.Label != trace.ZeroLabel(trace.CalendarDate, at(c.clock)) || h.N != c.n {
			t.Errorf("%s, %s: the busiest clock hour is %+v, want %d from %s", c.zone, c.label, h, c.n, c.clock)
		}
		if h := a.PeakHour; h.Label != trace.ZeroLabel(trace.CalendarDate, at(c.rush)) || h.N != 600 {
			t.Errorf("%s, %s: the busiest hour is %+v, want 600 from %s", c.zone, c.label, h, c.rush)
		}
		best := 0
		for i, r := range a.Week.Rates {
			if r > a.Week.Rates[best] {
				best = i
			}
		}
		if want := 6*24 + c.hour; best != want {
			t.Errorf("%s, %s: the busiest hour of the week is %d, want %d", c.zone, c.label, best, want)
		}
	}
}
