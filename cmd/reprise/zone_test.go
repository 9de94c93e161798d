package main

import (
	"testing"
	"time"
)

// Offsets at a summer's noon, as the zone database has them.
func TestParseZone(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]int{"Europe/Berlin": 7200, "+02:00": 7200, "-0330": -12600, "UTC": 0, "Asia/Kolkata": 19800} {
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
