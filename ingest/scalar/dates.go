package scalar

import (
	"fmt"
	"strings"
	"time"
)

// The units that say how a date with slashes is written.
const (
	monthFirst = "mdy"
	dayFirst   = "dmy"
)

// KnownUnit tells units of numbers, and of dates.
func KnownUnit(unit string) bool {
	return PerSecond(unit) > 0 || unit == monthFirst || unit == dayFirst
}

// parseOtherDate reads the dates that are not in the form of RFC 3339: of mail
// and web servers, of spreadsheets and portals. Of 3/2/2026 the column's unit
// says what comes first; without one, a clock with AM and PM or a number above
// twelve does, and otherwise the date is not read.
func parseOtherDate(s, unit string) (Time, bool) {
	switch {
	case len(s) >= 15 && Digits(s[:8]) && (s[8] == 'T' || s[8] == ' ') && Digits(s[9:15]):
		return parseDate(fmt.Sprintf("%s-%s-%sT%s:%s:%s%s", s[:4], s[4:6], s[6:8], s[9:11], s[11:13], s[13:15], s[15:]))
	case len(s) >= 16 && s[2] == '.' && s[5] == '.' && Digits(s[6:10]):
		return parseDate(fmt.Sprintf("%s-%s-%s %s", s[6:10], s[3:5], s[:2], strings.TrimLeft(s[10:], ", ")))
	case len(s) > 20 && s[2] == '/' && s[6] == '/' && s[11] == ':':
		return byLayout(s, "02/Jan/2006:15:04:05 -0700")
	case len(s) > 4 && s[3] == ',':
		if zone := s[len(s)-3:]; zone == "GMT" || zone == "UTC" {
			return byLayout(s[:len(s)-3]+"+0000", "Mon, 2 Jan 2006 15:04:05 -0700")
		}
		return byLayout(s, "Mon, 2 Jan 2006 15:04:05 -0700")
	}
	return parseSlashes(s, unit)
}

func byLayout(s, layout string) (Time, bool) {
	at, err := time.Parse(layout, s)
	if err != nil {
		return Time{}, false
	}
	return parseDate(at.Format("2006-01-02T15:04:05.999999-07:00"))
}

// parseSlashes reads 3/2/2026 14:05 and 3/2/2026, 2:05:11.482 PM.
func parseSlashes(s, unit string) (Time, bool) {
	date, clock, _ := strings.Cut(s, " ")
	parts := strings.Split(strings.TrimSuffix(date, ","), "/")
	if len(parts) != 3 || len(parts[2]) != 4 || !Digits(parts[0]) || !Digits(parts[1]) || !Digits(parts[2]) || len(parts[0]) > 2 || len(parts[1]) > 2 {
		return Time{}, false
	}
	first, second := atoi(parts[0]), atoi(parts[1])
	upper := strings.ToUpper(clock)
	half := strings.HasSuffix(upper, "AM") || strings.HasSuffix(upper, "PM")
	month, day := first, second
	switch {
	case unit == dayFirst || unit != monthFirst && first > 12:
		month, day = second, first
	case unit == monthFirst || half || second > 12:
	default:
		return Time{}, false // 3/2 is the third of February or the second of March
	}
	hour, rest, ok := clockOf(strings.TrimSpace(clock), upper, half)
	if !ok {
		return Time{}, false
	}
	return parseDate(fmt.Sprintf("%s-%02d-%02d %02d%s", parts[2], month, day, hour, rest))
}

// clockOf splits "2:05:11.482 PM" into the hour of the day and the rest.
func clockOf(clock, upper string, half bool) (hour int, rest string, ok bool) {
	colon := strings.IndexByte(clock, ':')
	if colon < 1 || colon > 2 || !Digits(clock[:colon]) {
		return 0, "", false
	}
	hour, rest = atoi(clock[:colon]), clock[colon:]
	if half {
		rest = strings.TrimRight(rest[:len(rest)-2], " ")
		if hour < 1 || hour > 12 {
			return 0, "", false
		}
		hour %= 12
		if strings.HasSuffix(upper, "PM") {
			hour += 12
		}
	}
	return hour, rest, true
}

// UnreadableTime says why a text is no time.
func UnreadableTime(s string) string {
	if strings.Count(s, "/") == 2 {
		return "may be month/day or day/month: say so with @mdy or @dmy behind the column"
	}
	return "is no time that can be read"
}
