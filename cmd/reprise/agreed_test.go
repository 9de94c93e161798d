package main

import (
	"strings"
	"testing"

	"reprise/replay"
)

// TestOffAgreed: a run at another rate than the one agreed says so, beyond what
// chance makes of its requests.
func TestOffAgreed(t *testing.T) {
	plan := func(n int, perS float64) *replay.Plan {
		p := &replay.Plan{Jobs: make([]replay.Job, n)}
		for i := range p.Jobs {
			p.Jobs[i].Sched = int64(float64(i) / perS * 1e9)
		}
		return p
	}
	for _, c := range []struct {
		load, rate float64
		n          int
		told       bool
	}{
		{50, 10, 250, true}, {11, 11.4, 228, false}, {11, 12.9, 258, true}, {11, 14, 10, false}, {0, 10, 250, false}, {10, 10, 1, false},
	} {
		if got := offAgreed(c.load, plan(c.n, c.rate)); (got != "") != c.told || c.told && !strings.Contains(got, "judged at what was offered") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
