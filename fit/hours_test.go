package fit

import (
	"testing"
	"time"

	"reprise/trace"
)

// office is a log from 9 to 18 by the clock of Berlin, one request every fifth
// minute, over the days before and behind the change of 2025-10-26.
func office(t *testing.T, days int) (trace.Time, []int64) {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	check(t, err)
	zero := time.Date(2025, time.October, 20, 9, 0, 0, 547000, berlin) // a Monday
	var times []int64
	for d := range days {
		for m := range 9 * 12 {
			at := time.Date(2025, time.October, 20+d, 9, 5*m, 0, 547000, berlin)
			times = append(times, at.Sub(zero).Microseconds())
		}
	}
	return trace.Time{ResolutionUS: 1, Calendar: trace.CalendarDate, Zero: trace.ZeroLabel(trace.CalendarDate, zero)}, times
}

// TestHoursOverDST counts by the clock on the wall: two weeks around a change of
// the clocks have the same hours there, and in UTC rates that never were.
func TestHoursOverDST(t *testing.T) {
	clock, times := office(t, 14)
	berlin, _ := time.LoadLocation("Europe/Berlin")
	for _, c := range []struct {
		zone *time.Location
		odd  bool
	}{{berlin, false}, {nil, true}} {
		h, err := HoursOf(clock, times, c.zone)
		check(t, err)
		odd := false
		for i, r := range h.Rates() {
			if full := 12.0 / 3600; r > 0 && (r < full*0.9 || r > full*1.1) {
				odd = true
			} else if c.zone != nil && i != 9 && r >= 0 && (r > 0) != (i%24 >= 9 && i%24 < 18) {
				t.Errorf("hour %d of the week: %v/s", i, r)
			}
		}
		if odd != c.odd {
			t.Errorf("in %v: rates that never were: %v", c.zone, odd)
		}
		n := map[int]int{}
		for _, w := range h.OfWeek {
			n[w]++
		}
		if sunday := n[6*24+2]; c.zone != nil && sunday != 3 {
			t.Errorf("Sunday 02:00 came %d times in two weeks, once of them twice in a night", sunday)
		}
	}
}

// TestHoursWithoutDate refuses summer time where no date tells whether it was,
// and takes an offset.
func TestHoursWithoutDate(t *testing.T) {
	clock, times := office(t, 2)
	at, _, err := clock.ZeroTime()
	check(t, err)
	clock = trace.Time{ResolutionUS: 1, Calendar: trace.CalendarHourOfWeek, Zero: trace.ZeroLabel(trace.CalendarHourOfWeek, at)}
	berlin, _ := time.LoadLocation("Europe/Berlin")
	if _, err := HoursOf(clock, times, berlin); err == nil {
		t.Error("summer time is told of weekdays without a date")
	}
	zone, err := time.LoadLocation("Etc/GMT-2")
	check(t, err)
	h, err := HoursOf(clock, times, zone)
	check(t, err)
	if h.OfWeek[0] != 10 || h.Counts[0] != 12 || h.Start != 3600*second-547 {
		t.Errorf("the first hour is %d, %d requests from %d µs on", h.OfWeek[0], h.Counts[0], h.Start)
	}
}

// TestClockHourLabel labels the busiest hour by the clock with a full hour.
func TestClockHourLabel(t *testing.T) {
	clock, times := office(t, 3)
	berlin, _ := time.LoadLocation("Europe/Berlin")
	a, err := arrivalSection(clock, &rows{n: int64(len(times)), timed: true, times: times}, berlin)
	check(t, err)
	if a.ClockHour.Label != "2025-10-20T08:00:00.000000Z" || a.Week.Zone != "Europe/Berlin" {
		t.Errorf("label %q, zone %q", a.ClockHour.Label, a.Week.Zone)
	}
	if got := ClockLabel(a.ClockHour.Label, a.Week.Zone); got != "2025-10-20 10:00 Europe/Berlin" {
		t.Error(got)
	}
}

// TestClockLabel gives every label its zone.
func TestClockLabel(t *testing.T) {
	for _, c := range [][3]string{
		{"Wed 12:00:00.547000", "", "Wed 12:00 UTC"}, {"Wed 12:00:00.000000", "UTC", "Wed 12:00 UTC"},
		{"Wed 12:00:00.000000", "Etc/GMT-2", "Wed 14:00 UTC+02:00"}, {"Wed 12:00", "Europe/Berlin", "Wed 13:00 or Wed 14:00 Europe/Berlin"},
		{"Wed 23:30", "America/New_York", "Wed 18:30 or Wed 19:30 America/New_York"},
		{"2025-07-01T22:30:00.000000Z", "Europe/Berlin", "2025-07-02 00:30 Europe/Berlin"}, {"2025-12-01T12:00:00.000000Z", "no/zone", "2025-12-01 12:00 UTC"},
		{"some day", "UTC", "some day"}, {"", "", ""},
	} {
		if got := ClockLabel(c[0], c[1]); got != c[2] {
			t.Errorf("%q in %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// TestHoursOfStrayStamp: up to a stamp that is ages off there are no hours, and no
// attempt to count them all.
func TestHoursOfStrayStamp(t *testing.T) {
	clock := trace.Time{Calendar: trace.CalendarDate, Zero: trace.ZeroLabel(trace.CalendarDate, time.Date(2025, 10, 20, 9, 0, 0, 0, time.UTC))}
	h, err := HoursOf(clock, []int64{0, 1 << 62}, nil)
	check(t, err)
	if len(h.Counts) > 0 {
		t.Errorf("%d hours", len(h.Counts))
	}
}

// TestZoneName turns the signs of the tz database's offsets round and leaves
// every other name as it is.
func TestZoneName(t *testing.T) {
	for in, want := range map[string]string{"Etc/GMT-2": "UTC+02:00", "Etc/GMT+11": "UTC-11:00", "Etc/GMT": "Etc/GMT", "Etc/GMT0": "Etc/GMT0",
		"Europe/Berlin": "Europe/Berlin", "UTC": "UTC", "": ""} {
		if got := ZoneName(in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

// TestWeekOfOneDay tells the hours of a log of one day, which is always a little
// shorter than that, and none of half a day.
func TestWeekOfOneDay(t *testing.T) {
	clock := trace.Time{Calendar: trace.CalendarDate, Zero: "2026-10-05T00:00:06.000000Z"}
	for _, c := range []struct {
		hours int64
		want  int
	}{{24, 22}, {12, -1}} {
		var times []int64
		for at := int64(0); at <= (c.hours*3600-20)*second; at += 30 * second {
			times = append(times, at)
		}
		a, err := arrivalSection(clock, &rows{n: int64(len(times)), timed: true, times: times}, time.UTC)
		check(t, err)
		known := -1
		if a.Week != nil {
			known = 0
			for _, r := range a.Week.Rates {
				known += is(r >= 0)
			}
		}
		if known != c.want {
			t.Errorf("of %d hours the rates of %d are told, want %d", c.hours, known, c.want)
		}
	}
}
