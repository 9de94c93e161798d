package bundle

import (
	"time"

	"reprise/trace"
)

func fullHour(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }

// specLabel cuts a label of a spec, which is a weekday with a time of day or a
// date with one, to the full hour under a calendar. What it cannot read, it
// drops: a label is a convenience, and an unknown one might say too much.
func specLabel(label, calendar string) string {
	at, from, ok := readLabel(label)
	if !ok {
		return ""
	}
	return trace.ZeroLabel(coarser(from, calendar), fullHour(at))
}

// readLabel reads the layouts that a label comes in.
func readLabel(label string) (time.Time, string, bool) {
	for _, calendar := range []string{trace.CalendarHourOfWeek, trace.CalendarDate} {
		for _, tail := range []string{"", ".000000", ":00.000000"} {
			at, ok, err := trace.Time{Calendar: calendar, Zero: label + tail}.ZeroTime()
			if err == nil && ok {
				return at, calendar, true
			}
		}
	}
	return time.Time{}, "", false
}
