package scalar

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Negative is what is wrong with a number below zero.
const Negative = "is negative"

// ParseCount reads a count that must be a whole number of at least 0 and at
// most limit. "12.0" is 12, as tables that went through a float column have it.
// The second result is our phrase for what is wrong, empty when nothing is.
func ParseCount(s string, limit int64) (int64, string) {
	s = trimSpace(s)
	if len(s) <= 18 && Digits(s) {
		v := int64(0)
		for i := range len(s) {
			v = v*10 + int64(s[i]-'0')
		}
		return CheckCount(v, limit)
	}
	s = plainNumber(s)
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return CheckCount(v, limit)
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case math.IsNaN(f):
		return 0, "is not a number"
	case math.IsInf(f, 0) || f >= 1<<63:
		return 0, "is too large"
	case err != nil:
		return 0, "is not a number"
	case f < 0:
		return 0, Negative
	case f != math.Trunc(f):
		return 0, "is not a whole number"
	}
	return CheckCount(int64(f), limit)
}

// plainNumber takes the guard of a spreadsheet off a number ('12), and the commas
// between thousands (1,234,567).
func plainNumber(s string) string {
	s = strings.TrimPrefix(s, "'")
	groups := strings.Split(s, ",")
	if len(groups) == 1 || len(groups[0]) == 0 || len(groups[0]) > 3 {
		return s
	}
	for _, g := range groups[1:] {
		if len(g) != 3 || !Digits(g) {
			return s
		}
	}
	return strings.Join(groups, "")
}

// CheckCount is ParseCount for a number that is read already.
func CheckCount(v, limit int64) (int64, string) {
	switch {
	case v < 0:
		return 0, Negative
	case v > limit:
		return 0, "is too large"
	}
	return v, ""
}

// ParseSpan reads a duration in the unit, seconds when there is none, as µs.
// Its own unit may stand behind the number, as in 52.1ms.
func ParseSpan(s, unit string) (int64, string) {
	if s = trimSpace(s); len(s) > 1 && s[0] >= '0' && s[0] <= '9' && s[len(s)-1] > '9' {
		if d, ok := ParseGoSpan(s); ok {
			return d.Microseconds(), ""
		}
	}
	f, err := strconv.ParseFloat(trimSpace(s), 64)
	if unit == "" {
		unit = "s"
	}
	us := math.Round(f / float64(PerSecond(unit)) * 1e6)
	switch {
	case math.IsNaN(f) || (err != nil && !math.IsInf(f, 0)):
		return 0, "is not a number"
	case f < 0:
		return 0, Negative
	case us > 1e15: // 31 years
		return 0, "is too large"
	}
	return int64(us), ""
}

// ParseGoSpan reads a duration as Go and Rust print it: 521.3ms, 41µs, 1.2s, 1m2s.
func ParseGoSpan(s string) (time.Duration, bool) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	return d, err == nil && d >= 0
}
