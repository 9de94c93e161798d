package main

import (
	"testing"
	"time"
)

// Offsets at a summer's noon, as the zone database has them.
func TestParseZone(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]int{"Europe/Berlin": 7200, "+02:00": 7200, "UTC+02:00": 7200, "-0330": -12600, "UTC": 0, "Asia/Kolkata": 19800} {
		zone, err := parseZone(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := noon.In(zone).Zone(); got != want {
			t.Errorf("%s: %d seconds, want %d", in, got, want)
		}
	}
	for _, in := range []string{"Mars/Phobos", "Local", "25", "+2"} {
		if _, err := parseZone(in); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
}

// Zones of hours go into specs by their name; an offset has one of the zone
// database.
func TestHoursZone(t *testing.T) {
	for in, want := range map[string]string{"Europe/Berlin": "Europe/Berlin", "+02:00": "Etc/GMT-2", "UTC+02:00": "Etc/GMT-2", "-0500": "Etc/GMT+5", "+00:00": "UTC", "UTC": "UTC"} {
		zone, err := hoursZone(in)
		if err != nil {
			t.Fatal(err)
		}
		if zone.String() != want {
			t.Errorf("%s is %s, want %s", in, zone, want)
		}
	}
	for _, in := range []string{"+05:30", "Mars/Phobos", "+20:00"} {
		if zone, err := hoursZone(in); err == nil {
			t.Errorf("%s is taken for %s", in, zone)
		}
	}
}
