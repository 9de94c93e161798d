package fit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/trace"
)

// TestClockChange: arrivals that may be an hour off are told in the spec, those
// of several traces together, also as read back from their files.
func TestClockChange(t *testing.T) {
	shard := func(either int64) Shard {
		x := traffic(rand.New(rand.NewPCG(8, 8)), 300)
		x.Header.Time.Calendar, x.Header.Time.Zero = trace.CalendarDate, "2026-10-25T00:00:00Z"
		x.Header.Counting = &trace.Counting{Clock: &trace.ClockChange{Either: either, Skipped: 2}}
		return Shard{Name: "a", File: written(t, x)}
	}
	for _, shards := range [][]Shard{{shard(7)}, {shard(4), shard(3)}} {
		sp, err := FitShards(shards, Options{}, DefaultLimits(), nil)
		check(t, err)
		notes := strings.Join(Notes(sp), "\n")
		if !strings.Contains(notes, "7 arrivals are in an hour that the clock showed twice") || !strings.Contains(notes, "arrivals are at times that the clock of the zone skipped") {
			t.Errorf("%d traces: %s", len(shards), notes)
		}
	}
}
