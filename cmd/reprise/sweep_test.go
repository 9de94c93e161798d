package main

import (
	"strings"
	"testing"

	"reprise/replay"
)

// A saturation that rests on levels with too few answers says so, and so does
// the run whose rate is a share of it.
func TestSaturationOfFewAnswers(t *testing.T) {
	var o replayOptions
	var f saturating
	f.follow(&o, []int{2, 4}, true)
	for i, slots := range []int{2, 4} {
		for k := range 40 { // the lower level has 40 answers, the other one each
			if i == 1 && k >= slots {
				break
			}
			at := int64(k/slots) * 1e9
			r := replay.Result{Point: int32(i), Phase: replay.Measure, Sched: at}
			r.End.V, r.End.OK = at+1e9, true
			o.each(&r)
		}
	}
	at, rate, more := f.best()
	if at.Concurrency != 2 || rate < 1.99 || rate > 2.01 || !strings.Contains(more, "the level with 4 under way holds 0 answers in its steady part and needs 10") {
		t.Fatalf("%+v %g %q", at, rate, more)
	}
	w := &sweeper{index: &sweepIndex{}}
	w.index.saturates("a", at, rate, more)
	if notes := w.rests(&sweepLine{OfSaturation: 0.5, RatePerS: 1}); len(notes) != 2 || !strings.Contains(notes[0], "The rate asked for, 1 requests/s, is 0.5 of the lowest") || !strings.Contains(notes[1], "0.5 of a saturation that may be higher than the 2 answers/s found at a") {
		t.Errorf("%q", notes)
	}
	if notes := w.rests(&sweepLine{RatePerS: 3}); notes != nil {
		t.Errorf("a rate of its own rests on nothing: %q", notes)
	}
}

// The adapters of what a sweep sends have names before its first run: each name
// is of an adapter of one workload at least, and each adapter has one.
func TestSweepAdapters(t *testing.T) {
	plain, tuned := feedOf(5), feedOf(5)
	tuned.trace.Requests[3].Adapter, tuned.trace.Requests[4].Adapter = "sql", "sql"
	for _, c := range []struct {
		given string
		says  string
	}{
		{"sql=x", ""},
		{"", "runs: b: the trace has requests of adapters without a name at the endpoint: sql (row 3)"},
		{"sql=x,code=y", "--adapter code=y: no request of the trace has this adapter"},
		{"sql", "--adapter is ALIAS=NAME"},
	} {
		w := &sweeper{options: &sweepOptions{}, feeds: map[string]*feed{"p": plain, "t": tuned},
			plan: &sweepPlan{Seed: 1, Runs: []sweepRow{{Name: "a", Mode: rowReplay, Workload: "p"}, {Name: "b", Mode: rowReplay, Workload: "t"}}}}
		if c.given != "" {
			w.options.replayOptions.endpoint.adapters = strings.Split(c.given, ",")
		}
		err := w.feasible()
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%q: %v, want %q", c.given, err, c.says)
		}
	}
}
