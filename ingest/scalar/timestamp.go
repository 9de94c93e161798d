package scalar

import (
	"math/bits"
	"strconv"
	"time"
)

// Time is a parsed time.
type Time struct {
	Micros   int64 // µs since 1970, or since the log's start
	Relative bool  // counts from the log's start
	Naive    bool  // text without a zone, taken as UTC
	Guessed  bool  // a small number whose unit nobody gave: taken as seconds
}

// ticks at 1970-01-01 in .NET's clock of 100 ns since year 1.
const ticksAt1970 = 621_355_968_000_000_000

// PerSecond is how many of the unit are in a second; 0 for an unknown unit.
func PerSecond(unit string) int64 {
	switch unit {
	case "s":
		return 1
	case "ms":
		return 1_000
	case "us":
		return 1_000_000
	case "ticks":
		return 10_000_000
	case "ns":
		return 1_000_000_000
	}
	return 0
}

// Instants between 1998 and 2103 are taken as absolute, smaller ones as
// relative; the ranges of the units do not overlap.
const (
	epochMin = 900_000_000
	epochMax = 4_200_000_000
)

// ParseTime reads a time stamp. Numbers are told by magnitude (seconds,
// milli-, micro-, nanoseconds, .NET ticks, small numbers from the log's start)
// unless a unit is given; text is RFC 3339 and its relatives, without a zone
// UTC, or what parseOtherDate reads. Digits below a microsecond are cut off.
func ParseTime(s, unit string) (Time, bool) {
	s = trimSpace(s)
	if len(s) >= 10 && Digits(s[:4]) && (s[4] == '-' || s[4] == '/') {
		return parseDate(s)
	}
	whole, frac, ok := decimal(s)
	if !ok {
		return parseOtherDate(s, unit)
	}
	if unit == "" {
		return byMagnitude(whole, frac)
	}
	return inUnit(whole, frac, unit)
}

func byMagnitude(whole int64, frac string) (Time, bool) {
	for _, unit := range []string{"s", "ms", "us", "ns"} {
		k := PerSecond(unit)
		if whole/k >= epochMin && whole/k < epochMax {
			return inUnit(whole, frac, unit)
		}
	}
	if sec := (whole - ticksAt1970) / 10_000_000; sec >= epochMin && sec < epochMax {
		return inUnit(whole, frac, "ticks")
	}
	if whole < epochMin {
		st, ok := inUnit(whole, frac, "s")
		st.Guessed = true
		return st, ok
	}
	return Time{}, false
}

func inUnit(whole int64, frac, unit string) (Time, bool) {
	if unit == "ticks" {
		if whole > ticksAt1970 {
			whole -= ticksAt1970
		}
	}
	us, ok := toMicro(whole, frac, PerSecond(unit))
	if !ok || us/1_000_000 >= epochMax {
		return Time{}, false
	}
	return Time{Micros: us, Relative: us/1_000_000 < epochMin}, true
}

// toMicro turns whole.frac units, scale of them a second, into µs.
func toMicro(whole int64, frac string, scale int64) (int64, bool) {
	if scale == 0 || whole < 0 {
		return 0, false
	}
	if scale >= 1_000_000 { // µs or finer: the fraction is below resolution
		return whole / (scale / 1_000_000), true
	}
	per := 1_000_000 / scale // µs in one unit: 10^6 or 10^3
	hi, lo := bits.Mul64(uint64(whole), uint64(per))
	if hi != 0 || lo > 1<<62 {
		return 0, false
	}
	us := int64(lo)
	for i := 0; i < len(frac) && per >= 10; i++ {
		per /= 10
		us += int64(frac[i]-'0') * per
	}
	return us, true
}

// decimal splits "123.45" into 123 and "45". Exponents are expanded by way of a
// float64, which holds every time in seconds to the microsecond.
func decimal(s string) (int64, string, bool) {
	dot := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
		case c == '.' && dot == len(s):
			dot = i
		case (c == 'e' || c == 'E') && i > 0:
			f, err := strconv.ParseFloat(s, 64)
			if err != nil || !(f >= 0 && f < 1<<62) {
				return 0, "", false
			}
			return decimal(strconv.FormatFloat(f, 'f', -1, 64))
		default:
			return 0, "", false
		}
	}
	if dot == 0 {
		return 0, "", false
	}
	whole, err := strconv.ParseInt(s[:dot], 10, 64)
	if err != nil {
		return 0, "", false
	}
	if dot == len(s) {
		return whole, "", true
	}
	return whole, s[dot+1:], true
}

// parseDate reads YYYY-MM-DD, a T or a space, HH:MM, then :SS, a fraction of
// any length after a dot or comma, and Z, UTC or ±HH[:MM], each optional.
func parseDate(s string) (Time, bool) {
	if len(s) < 16 || s[7] != s[4] || (s[10] != 'T' && s[10] != 't' && s[10] != ' ') || s[13] != ':' {
		return Time{}, false
	}
	year, month, day := two(s, 0)*100+two(s, 2), two(s, 5), two(s, 8)
	hour, minute, sec, rest := two(s, 11), two(s, 14), 0, s[16:]
	if len(rest) >= 3 && rest[0] == ':' && Digits(rest[1:3]) {
		sec, rest = two(rest, 1), rest[3:]
	}
	frac := ""
	if len(rest) > 0 && (rest[0] == '.' || rest[0] == ',') {
		end := 1
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		if end == 1 {
			return Time{}, false
		}
		frac, rest = rest[1:end], rest[end:]
	}
	offset, naive, ok := zone(rest)
	if !ok || !Digits(s[:4]) || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || sec > 59 {
		return Time{}, false
	}
	at := ((daysSince1970(year, month, day)*24+int64(hour))*60+int64(minute))*60 + int64(sec) - int64(offset/time.Second)
	if at < 0 || at >= epochMax {
		return Time{}, false
	}
	us, ok := toMicro(at, frac, 1)
	return Time{Micros: us, Naive: naive}, ok
}

// two is the number of two digits at i, negative where they are none.
func two(s string, i int) int {
	a, b := s[i]-'0', s[i+1]-'0'
	if a > 9 || b > 9 {
		return -1 << 16
	}
	return int(a)*10 + int(b)
}

// daysIn is how many days a month has in the Gregorian calendar.
func daysIn(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

// daysSince1970 counts the days of the Gregorian calendar: those of the whole
// years since year 1, less those until 1970, and those of the year so far.
func daysSince1970(year, month, day int) int64 {
	y := int64(year) - 1
	before := [13]int64{0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}[month]
	if month > 2 && daysIn(year, 2) == 29 {
		before++
	}
	return y*365 + y/4 - y/100 + y/400 - 719162 + before + int64(day) - 1
}

// zone reads what may stand behind the time of day.
func zone(s string) (offset time.Duration, naive, ok bool) {
	s = trimSpace(s)
	switch s {
	case "":
		return 0, true, true
	case "Z", "z", "UTC", "GMT":
		return 0, false, true
	}
	sign := time.Duration(1)
	switch {
	case s[0] == '-':
		sign = -1
	case s[0] != '+':
		return 0, false, false
	}
	s = s[1:]
	if len(s) == 5 && s[2] == ':' {
		s = s[:2] + s[3:]
	}
	if (len(s) != 2 && len(s) != 4) || !Digits(s) {
		return 0, false, false
	}
	h, m := atoi(s[:2]), 0
	if len(s) == 4 {
		m = atoi(s[2:])
	}
	if h > 14 || m > 59 {
		return 0, false, false
	}
	return sign * (time.Duration(h)*time.Hour + time.Duration(m)*time.Minute), false, true
}

// Digits says that a text is ASCII digits, one at least.
func Digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) > 0
}

// atoi reads up to four digits that were checked before.
func atoi(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

func trimSpace(s string) string {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}
