package fit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/trace"
	"reprise/trace/spec"
)

const hour = 3600 * second

// Hours counts arrivals by the whole hours of a wall clock, in order, empty ones
// included. Start is the offset of the first in µs. OfWeek numbers each from
// Monday 00:00 as the clock shows it: where it is set back an hour of the week
// comes twice, where it is set forward one is left out.
type Hours struct {
	Start  int64
	Counts []int64
	OfWeek []int
}

// HoursOf counts the arrivals of a trace by the clock of zone, nil for UTC. There
// are no hours without a calendar, where the log covers none whole, or of more than
// ten years. Hours of the week without a date do not tell whether summer time was
// in force, so a zone that has it is an error.
func HoursOf(clock trace.Time, times []int64, zone *time.Location) (Hours, error) {
	if zone == nil {
		zone = time.UTC
	}
	zero, ok := instant(clock.Calendar, clock.Zero)
	if !ok || len(times) == 0 || checkSpan(times) != nil {
		return Hours{}, nil // a label that nothing reads is none
	}
	if clock.Calendar == trace.CalendarHourOfWeek {
		offset, fixed := constant(zone)
		if !fixed {
			return Hours{}, fmt.Errorf("the trace keeps hours of the week and no dates, so it is not known whether %s had summer time: ingest the log with calendar: date, or give the offset of those days, such as +02:00", zone)
		}
		zone = time.FixedZone(zone.String(), offset)
	}
	wall := func(offset int64) time.Time { return time.UnixMicro(zero.UnixMicro() + offset).In(zone) }
	first, last := times[0], times[len(times)-1]
	at := wall(first)
	since := int64(at.Minute())*60*second + int64(at.Second())*second + int64(at.Nanosecond())/1000
	h := Hours{Start: first + (hour-since)%hour}
	if last-h.Start < hour {
		return Hours{}, nil
	}
	h.Counts = make([]int64, (last-h.Start)/hour)
	for i := range h.Counts {
		at := wall(h.Start + int64(i)*hour)
		h.OfWeek = append(h.OfWeek, (int(at.Weekday())+6)%7*24+at.Hour())
	}
	for _, t := range times {
		if i := (t - h.Start) / hour; t >= h.Start && i < int64(len(h.Counts)) {
			h.Counts[i]++
		}
	}
	return h, nil
}

// Rates is the mean rate (1/s) of each hour of the week, -1 of those that the log
// does not cover.
func (h Hours) Rates() [spec.WeekHours]float64 {
	var sum, n [spec.WeekHours]int64
	for i, c := range h.Counts {
		sum[h.OfWeek[i]] += c
		n[h.OfWeek[i]]++
	}
	var out [spec.WeekHours]float64
	for i := range out {
		out[i] = -1
		if n[i] > 0 {
			out[i] = float64(sum[i]) / float64(n[i]) / 3600
		}
	}
	return out
}

// constant is the offset of a zone from UTC in seconds; false where it changes
// in a year.
func constant(zone *time.Location) (offset int, fixed bool) {
	_, offset = time.Date(2024, time.January, 1, 0, 0, 0, 0, zone).Zone()
	for month := time.February; month <= time.December; month++ {
		if _, other := time.Date(2024, month, 1, 0, 0, 0, 0, zone).Zone(); other != offset {
			return 0, false
		}
	}
	return offset, true
}

// ClockLabel is a label of the calendar, which is in UTC, to the minute and with
// its zone: by the clock of a zone of the tz database, else in UTC. Of a weekday
// without a date in a zone with summer time that is one of two hours, and both are
// told. What it cannot read it returns as it is.
func ClockLabel(label, zone string) string {
	calendar, layout := trace.CalendarHourOfWeek, "Mon 15:04"
	at, ok := instant(calendar, label)
	if !ok {
		calendar, layout = trace.CalendarDate, "2006-01-02 15:04"
		if at, ok = instant(calendar, label); !ok {
			return label
		}
	}
	to, err := time.LoadLocation(zone)
	if err != nil || zone == "" {
		return at.UTC().Format(layout) + " UTC"
	}
	if calendar == trace.CalendarHourOfWeek {
		return eitherHour(at.UTC(), to, layout) + " " + ZoneName(zone)
	}
	return at.In(to).Format(layout) + " " + ZoneName(zone)
}

// eitherHour is an instant of a weekday without a date by the clock of a zone:
// each that its clock may have shown in a year.
func eitherHour(at time.Time, zone *time.Location, layout string) string {
	var told []string
	for month := time.January; month <= time.December; month++ {
		_, offset := time.Date(2024, month, 1, 0, 0, 0, 0, zone).Zone()
		if text := at.Add(time.Duration(offset) * time.Second).Format(layout); !slices.Contains(told, text) {
			told = append(told, text)
		}
	}
	return strings.Join(told, " or ")
}

// ZoneName is a zone as people read it. Zones of the tz database that are an
// offset and nothing else have its sign turned round: Etc/GMT-2 is UTC+02:00.
func ZoneName(zone string) string {
	digits, ok := strings.CutPrefix(zone, "Etc/GMT")
	west, err := strconv.Atoi(digits)
	if !ok || err != nil || west == 0 {
		return zone
	}
	return fmt.Sprintf("UTC%+03d:00", -west)
}

// instant reads a label, of which older ones lack seconds or their fraction.
func instant(calendar, label string) (time.Time, bool) {
	for _, tail := range []string{"", ".000000", ":00.000000"} {
		if at, ok, err := (trace.Time{Calendar: calendar, Zero: label + tail}).ZeroTime(); err == nil && ok {
			return at, true
		}
	}
	return time.Time{}, false
}
