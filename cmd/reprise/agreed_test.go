package main

import (
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace/spec"
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
	if got := offAgreed(1234567, p); !strings.Contains(got, "about 1,234,567 requests/s") {
		t.Errorf("a large rate: %q", got)
	}
	if got := offAgreed(20, p); got != "" {
		t.Errorf("at the agreed rate: %q", got)
	}
}

// TestFarLoad: a load of another order than the workload's rate is asked after.
func TestFarLoad(t *testing.T) {
	for _, c := range []struct {
		load, rate, peak float64
		want             string
	}{
		{80, 0.32, 0, "about 80 requests per second, 250 times the 0.32 that the spec has as measured: "},
		{80, 0.32, 0.9, "measured (0.9 in its busiest hour): "}, {2, 0.5, 1, ""}, {2.1, 0.5, 1, "4.2 times"}, {0.2, 0.5, 1, "0.4 times"},
		{9000, 2, 1500, "4,500 times the 2 that the spec has as measured (1,500 in its busiest hour): "}, {1, 0, 0, ""}, {0, 1, 0, ""}, {8, 8, 0, ""},
	} {
		sp := &spec.Spec{}
		sp.Question.Load = spec.Load{Value: spec.Num(c.load), Unit: "1/s"}
		sp.Workload.Arrivals.Rate = spec.MeasuredNumber(c.rate, "1/s", 100)
		if c.peak > 0 {
			sp.Workload.Arrivals.PeakHour = &spec.PeakWindow{Rate: spec.Num(c.peak)}
		}
		if got := farLoad(sp); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
