package sign

import (
	"errors"
	"strings"
	"time"
)

// moment is a date of valid-after or valid-before. Without a Z it has no zone
// until it is compared, as in ssh-keygen, which then takes the local one.
type moment struct {
	wall time.Time // the date's digits, as if they were UTC
	utc  bool
}

// parseMoment reads YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, each with an
// optional Z or UTC.
func parseMoment(s string) (*moment, error) {
	digits, utc := s, false
	for _, suffix := range []string{"Z", "UTC"} {
		if n := len(s) - len(suffix); !utc && n > 0 && strings.EqualFold(s[n:], suffix) {
			digits, utc = s[:n], true
		}
	}
	const layout = "20060102150405"
	if n := len(digits); (n != 8 && n != 12 && n != 14) || strings.Trim(digits, "0123456789") != "" {
		return nil, errors.New("date must be YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, each with Z or without")
	}
	t, err := time.Parse(layout[:len(digits)], digits)
	if err != nil || t.Unix() <= 0 {
		return nil, errors.New("there is no such date after 1970-01-01")
	}
	return &moment{t, utc}, nil
}

// unix returns the moment in seconds, read in zone if it has none of its own.
func (m moment) unix(zone *time.Location) int64 {
	if m.utc {
		return m.wall.Unix()
	}
	y, mon, d := m.wall.Date()
	h, min, s := m.wall.Clock()
	return time.Date(y, mon, d, h, min, s, 0, zone).Unix()
}

// never says whether no time lies between the two, where that shows without
// knowing the zone.
func never(after, before *moment) bool {
	return after != nil && before != nil && after.utc == before.utc && !before.wall.After(after.wall)
}
