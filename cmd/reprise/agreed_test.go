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
			p.Jobs[i] = replay.Job{Phase: replay.Measure, Sched: int64(float64(i) / perS * 1e9)}
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

// TestOffAgreedMeasured: the rate in the note is the one that the report gives,
// of the measured requests alone.
func TestOffAgreedMeasured(t *testing.T) {
	p := &replay.Plan{}
	for i := range 100 { // a warm-up at 10 requests/s, then 20
		p.Jobs = append(p.Jobs, replay.Job{Phase: replay.Warmup, Sched: int64(i) * 100e6})
	}
	for i := range 401 {
		p.Jobs = append(p.Jobs, replay.Job{Phase: replay.Measure, Sched: 10e9 + int64(i)*50e6})
	}
	if got := offAgreed(10, p); !strings.Contains(got, "this run offers 20:") {
		t.Errorf("at another rate: %q", got)
	}
	if got := offAgreed(20, p); got != "" {
		t.Errorf("at the agreed rate: %q", got)
	}
}
