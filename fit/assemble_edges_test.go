package fit

import (
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

// small is a trace of n requests a second apart, changed by edit.
func small(n int, edit func(i int, r *trace.Request)) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh,
		Time: trace.Time{Calendar: trace.CalendarNone}}}
	for i := range n {
		r := trace.Request{ID: int64(i), T: trace.Some(int64(i) * second), Input: trace.Some(int32(100 + i)), Output: trace.Some(int32(10 + i)), N: 1}
		if edit != nil {
			edit(i, &r)
		}
		t.Requests = append(t.Requests, r)
	}
	return t
}

func TestFitWithoutTimes(t *testing.T) {
	sp := fitted(t, small(50, func(_ int, r *trace.Request) { r.T = trace.Opt[int64]{} }))
	a := sp.Workload.Arrivals
	if a.Process != spec.ProcessUnknown || a.Rates != nil || a.PeakHour != nil || a.CV != nil || len(a.Notes) == 0 {
		t.Errorf("arrivals without times: %+v", a)
	}
	if a.Rate.From != spec.Assumed || a.Rate.Ask == "" || a.Rate.Value != 0 {
		t.Errorf("the rate of a log without times is %+v", a.Rate)
	}
	asked(t, sp, "workload.arrivals", true)
	if sp.Question.Load.Value != 0 {
		t.Errorf("a load of %v is made up", sp.Question.Load.Value)
	}
}

func TestFitFailures(t *testing.T) {
	sp := fitted(t, small(100, func(i int, r *trace.Request) {
		switch i % 4 {
		case 0:
			r.Status, r.Output = trace.Some[int16](503), trace.Some[int32](0)
		case 1:
			r.Finish, r.Output = trace.FinishError, trace.Some[int32](0)
		default:
			r.Status, r.Output = trace.Some[int16](200), trace.Some[int32](7)
		}
	}))
	w := sp.Workload
	if w.Arrivals.Rate.N != 100 || w.Lengths.Input.Mean.N != 100 {
		t.Errorf("failures do not count as arrivals: %d, %d", w.Arrivals.Rate.N, w.Lengths.Input.Mean.N)
	}
	if w.Lengths.Output.Mean.N != 50 || w.Lengths.Output.Mean.Value != 7 {
		t.Errorf("failures count as outputs: %+v", w.Lengths.Output.Mean)
	}
}

func TestFitMissingTokens(t *testing.T) {
	sp := fitted(t, small(100, func(i int, r *trace.Request) {
		if i%2 == 0 {
			r.Input = trace.Opt[int32]{}
		}
		if i%5 == 0 {
			r.Output = trace.Opt[int32]{}
		}
		r.From = trace.Estimated
	}))
	l := sp.Workload.Lengths
	if l.Input.Mean.N != 50 || l.Output.Mean.N != 80 || l.Spearman.N != 40 {
		t.Errorf("lengths rest on %d and %d, their correlation on %d", l.Input.Mean.N, l.Output.Mean.N, l.Spearman.N)
	}
	if l.Input.Mean.From != spec.Estimate || l.Output.Quantiles.From != spec.Estimate {
		t.Errorf("estimated lengths are called %s and %s", l.Input.Mean.From, l.Output.Quantiles.From)
	}
	for _, c := range []struct {
		want string
		edit func(int, *trace.Request)
	}{
		{"no prompt tokens", func(_ int, r *trace.Request) { r.Input = trace.Opt[int32]{} }},
		{"no output tokens", func(_ int, r *trace.Request) { r.Output = trace.Opt[int32]{} }},
	} {
		if _, err := Fit(small(5, c.edit), Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want an error with %q, got %v", c.want, err)
		}
	}
	if _, err := Fit(small(0, nil), Options{}); err == nil {
		t.Error("an empty trace is fitted")
	}
}

// TestFitFew fits traces that are too small for most statistics.
func TestFitFew(t *testing.T) {
	one := fitted(t, small(1, nil)).Workload
	if one.Arrivals.Rate.From != spec.Assumed || one.Arrivals.CV != nil || one.Lengths.Input.SD != nil || one.Arrivals.Rates.Counts[0] != 1 {
		t.Errorf("one request gives %+v", one.Arrivals)
	}
	same := fitted(t, small(20, func(_ int, r *trace.Request) { r.T = trace.Some[int64](0) })).Workload.Arrivals
	if same.Rate.From != spec.Assumed || len(same.Rates.Counts) != 1 || same.Rates.Counts[0] != 20 || same.Resolution != nil {
		t.Errorf("all at one instant give %+v", same)
	}
	two := fitted(t, small(2, nil)).Workload.Arrivals
	if two.Rate.Value != 2 || two.Span.Value != 1 {
		t.Errorf("two requests give %+v", two)
	}
}

func TestFitUnchainedBlocks(t *testing.T) {
	sp := fitted(t, small(4, func(i int, r *trace.Request) { r.Blocks = []int32{int32(2 * i), 1} }))
	if p := sp.Workload.Prefix; p.Model != nil || p.HitRates != nil || len(p.Notes) == 0 {
		t.Errorf("blocks that are not chained give %+v", p)
	}
	asked(t, sp, "workload.prefix", true)
	some := fitted(t, small(60, func(i int, r *trace.Request) {
		if i%3 == 0 {
			r.Blocks = []int32{0, int32(i + 1)}
		}
	})).Workload.Prefix
	if some.Model.N != 20 || len(some.Notes) != 2 || !strings.Contains(some.Notes[0], "20 of 60") {
		t.Errorf("prefixes of a third of the requests: %d, %q", some.Model.N, some.Notes)
	}
	if some.Common() != 1 || len(some.Roots) != 1 {
		t.Errorf("the common beginning is %d blocks, roots %+v", some.Common(), some.Roots)
	}
}

// TestFitLongLengths has lengths that only differ beyond the six digits of the
// spec.
func TestFitLongLengths(t *testing.T) {
	sp := fitted(t, small(1000, func(i int, r *trace.Request) {
		r.Input, r.Output = trace.Some(int32(5_000_000+i)), trace.Some(int32(2_000_000+i%7))
		r.Blocks = []int32{0, int32(i + 1)}
	}))
	if j := sp.Workload.Lengths.Joint; j == nil || len(j.Strata) < 5 {
		t.Errorf("strata: %+v", j)
	}
}

// TestFitLongLog keeps the spec of a month small.
func TestFitLongLog(t *testing.T) {
	sp := fitted(t, small(3000, func(i int, r *trace.Request) { r.T = trace.Some(int64(i) * 864 * second) }))
	if s := sp.Workload.Arrivals.Rates; len(s.Counts) > maxBins || s.WidthS != 1800 {
		t.Errorf("a month has %d bins of %v s", len(s.Counts), s.WidthS)
	}
	_, err := Fit(small(2, func(i int, r *trace.Request) { r.T = trace.Some(int64(i) * 1e18) }), Options{})
	if err == nil || !strings.Contains(err.Error(), "stray") {
		t.Errorf("a stray time stamp: %v", err)
	}
}
