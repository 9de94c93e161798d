package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reprise/replay"
	"reprise/trace/spec"
)

func none(*sweepPlan) error { return nil }

// The example of a plan is one, and says what its comments promise.
func TestPlanExample(t *testing.T) {
	p, err := readPlan("x/plan.yaml", []byte(planExample), none)
	if err != nil {
		t.Fatal(err)
	}
	if p.Workload != "x/peak.trace.parquet" || p.Repeats != 3 || len(p.Runs) != 4 || p.Endpoints[0].Name != "today" {
		t.Errorf("%+v", p)
	}
	want := []string{
		"closed loop, 1, then 2, then 4, then 8, then 16, then 32 under way at once: the server's answers set the pace",
		"open loop, gamma (CV 2) arrivals at 7 requests/s",
		"open loop at the instants of the trace",
		"ramp from 1 to 20 requests/s in 10 steps, Poisson arrivals",
	}
	w := feedOf(200)
	for i := range p.Runs {
		o, err := p.Runs[i].shape(7, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := o.plan(w)
		if err != nil {
			t.Fatalf("%s: %v", p.Runs[i].Name, err)
		}
		if got := plan.Shape.Sentence(plan.Mode()); got != want[i] {
			t.Errorf("%s: %s", p.Runs[i].Name, got)
		}
	}
}

// Endpoints take turns, and every run has a folder of its own.
func TestSweepOrder(t *testing.T) {
	p := &sweepPlan{Workload: "t", Repeats: 3, Endpoints: []sweepEndpoint{{Name: "a", URL: "http://u"}, {Name: "b", URL: "http://v"}},
		Runs: []sweepRow{{Name: "x", Mode: rowOpen, Rates: []float64{1, 2}, Duration: "1s"}}}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	x := newSweepIndex(p, replay.Input{})
	first, dirs := map[string]int{}, map[string]bool{}
	for i, l := range x.Runs {
		if i%2 == 0 {
			first[l.Endpoint]++
		} else if l.Endpoint == x.Runs[i-1].Endpoint || l.Point != x.Runs[i-1].Point || l.Repeat != x.Runs[i-1].Repeat {
			t.Errorf("run %d is no pair of the one above: %+v", i, l)
		}
		dirs[l.Dir] = true
	}
	if len(x.Runs) != 12 || len(dirs) != 12 || first["a"] != 3 || first["b"] != 3 {
		t.Errorf("%d runs in %d folders, first %v", len(x.Runs), len(dirs), first)
	}
}

// The runs of a spec are a plan.
func TestPlanOfSpec(t *testing.T) {
	sp := &spec.Spec{Runs: []spec.Run{{Name: "sat", Mode: rowClosed, LastS: 110}, {Mode: rowOpen, Load: spec.Load{Value: 5}, LastS: 60},
		{Name: "again", Mode: rowReplay, LastS: 60}, {Name: "up", Mode: rowRamp, Load: spec.Load{Value: 9}, LastS: 60}}}
	p, err := planOf(sp, "s.json", "t.parquet")
	if err != nil {
		t.Fatal(err)
	}
	p.Endpoints = []sweepEndpoint{{URL: "http://u"}}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	if p.Runs[0].duration != 110*time.Second || p.Runs[1].Name != "run2" || p.Runs[1].Rates[0] != 5 || p.Runs[2].Workload != "t.parquet" || *p.Runs[3].To != 9 {
		t.Errorf("%+v", p.Runs)
	}
	if _, err := planOf(&spec.Spec{}, "", ""); err == nil {
		t.Error("a spec without runs is a plan")
	}
}

// No plan, however wrong, is more than an error of one line.
func FuzzPlan(f *testing.F) {
	f.Add(planExample)
	f.Add("workload: a\nendpoints: [{url: \"http://u\"}]\nruns: [{name: a, mode: ramp, from: -1, to: .inf, duration: 1s}]")
	f.Add("runs: [{name: a, mode: closed_loop, concurrency: [-1], duration: 99999h}]")
	f.Add("endpoints: !x 00\n00: 00") // the library panics
	f.Fuzz(func(t *testing.T, text string) {
		p, err := readPlan("plan.yaml", []byte(text), none)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		w := feedOf(3)
		for i := range p.Runs {
			r := &p.Runs[i]
			if r.duration > 1e9 || r.large() {
				continue // may be long, and is tested elsewhere
			}
			o, err := r.shape(5, 1, false)
			if err != nil {
				continue
			}
			if plan, err := o.plan(w); err == nil && plan.Planned() == 0 {
				t.Error("a plan of nothing")
			}
		}
	})
}

func (r *sweepRow) large() bool {
	return r.To != nil && *r.To > 1000 || r.From != nil && *r.From > 1000 || r.Steps != nil && *r.Steps > 1000
}

// What cannot be run, or would run as something else, is refused at once, by
// row and key.
func TestPlanRefuses(t *testing.T) {
	const top = "workload: t\nendpoints: [{name: a, url: \"http://127.0.0.1:1\"}]\n"
	for _, c := range []struct{ text, says string }{
		{top + "runs: [{name: x, mode: ramp, from: 5, duration: 5s}]", "runs: x: to: "},
		{top + "runs: [{name: x, mode: ramp, to: 5, duration: 5s}]", "runs: x: from: "},
		{top + "runs: [{name: x, mode: ramp, from: 5, to: 5, duration: 5s}]", "runs: x: to: a ramp from 5 to 5"},
		{top + "runs: [{name: x, mode: ramp, from: 1, to: 5, steps: 0, duration: 5s}]", "runs: x: steps: 0"},
		{top + "runs: [{name: x, mode: ramp, from: 1, to: 5, steps: -2, duration: 5s}]", "runs: x: steps: -2"},
		{top + "runs: [{name: x, mode: ramp, from: 1, to: 5, steps: 1000000000, duration: 5s}]", "runs: x: steps: 1000000000 is more than 10000"},
		{top + "runs: [{name: x, mode: open_loop, rates: [3], duration: 5s, warmup: 5s}]", "runs: x: warmup: 5s"},
		{top + "runs: [{name: x, mode: open_loop, rates: [], duration: 5s}]", "runs: x: rates: the list is empty"},
		{top + "runs: [{name: x, mode: open_loop, rates: [3, 3], duration: 5s}]", "runs: x: rates: 3 stands there twice"},
		{top + "runs: [{name: x, mode: closed_loop, concurrency: [0], duration: 5s}]", "runs: x: concurrency: 0"},
		{top + "runs: [{name: x, mode: closed_loop, concurrency: [], duration: 5s}]", "runs: x: concurrency: the list is empty"},
		{top + "runs: [{name: x, mode: closed_loop, concurrency: [4, 2], duration: 5s}]", "runs: x: concurrency: 2 follows 4"},
		{top + "runs: [{name: x, mode: closed_loop, duration: 272ms}]", "runs: x: duration: each level of a closed loop takes 272ms"},
		{top + "runs: [{name: x, mode: replay, steps: 0}]", "runs: x: steps has no effect"},
		{top + "slo: [ttft p101 <= 1s]\nruns: [{name: x, mode: replay}]", "slo: "},
		{top + "runs: [{name: x, mode: replay}, {name: x, mode: replay}]", "runs: the name x of the 2nd is that of another"},
		{top + "runs: [{mode: replay}]", "runs: the 1st has no name"},
		{"workload: t\nendpoints: [{name: a, url: \"http://u:p@h\"}]\nruns: [{name: x, mode: replay}]", "endpoints: a: url: the URL has a user or password"},
		{"workload: t\nendpoints: [{name: a, url: \"http://h:1\"}, {name: b, url: \"http://h:1/v1\"}]\nruns: [{name: x, mode: replay}]", "endpoints: a and b are one"},
	} {
		_, err := readPlan("plan.yaml", []byte(c.text), none)
		line := strings.Count(c.text, "\n") + 1 // all of them are wrong on the last
		if strings.HasPrefix(c.says, "endpoints") || strings.HasPrefix(c.says, "slo") {
			line--
		}
		if want := fmt.Sprintf("line %d: %s", line, c.says); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	_, err := readPlan("plan.yaml", []byte(top+"runs:\n  - name: x\n    mode: replay\n\n  - name: y\n    mode: open_loop\n    duration: 1s\n    rates:\n      - 5\n      - -1\n"), none)
	if err == nil || !strings.HasPrefix(err.Error(), "line 10: runs: y: rates: -1 is not above 0") && !strings.HasPrefix(err.Error(), "line 11: runs: y: rates: -1 is not above 0") {
		t.Errorf("%v", err)
	}
	other := "workload: t\nendpoints: [{name: a, url: \"http://h:1\", model: m}, {name: b, url: \"http://h:1\", model: n}]\nruns: [{name: x, mode: replay}]"
	if _, err := readPlan("plan.yaml", []byte(other), none); err != nil {
		t.Errorf("two models of one server: %v", err)
	}
}

// The rate that a spec agrees on for a replay is held against the trace.
func TestReplayAtTheAgreedRate(t *testing.T) {
	w := &sweeper{options: &sweepOptions{}, plan: &sweepPlan{Seed: 1}, feeds: map[string]*feed{"t": feedOf(400)}}
	own := w.feeds["t"].rate()
	for _, c := range []struct {
		times float64
		ok    bool
	}{{1, true}, {1.05, true}, {2, false}, {0.5, false}} {
		r := &sweepRow{Name: "x", Mode: rowReplay, Workload: "t", agreed: own * c.times}
		if _, err := w.try(r, 0); (err == nil) != c.ok {
			t.Errorf("%g times the rate: %v", c.times, err)
		}
	}
}

func TestLimitsArePercentiles(t *testing.T) {
	for _, line := range []string{"ttft p101 <= 1s", "ttft p100 <= 1s", "ttft p0 <= 1s"} {
		if _, err := parseSLO(line); err == nil {
			t.Errorf("%s is a limit", line)
		}
	}
	if _, err := parseSLO("ttft p99.9 <= 1s"); err != nil {
		t.Error(err)
	}
}
