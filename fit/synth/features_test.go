package synth_test

import (
	"testing"

	"reprise/fit"
	"reprise/fit/synth"
	"reprise/trace"
)

// TestFeatures draws what tools and a schema take of a prompt, never more than
// it has, and several completions; a long trace lacks nothing of its spec.
func TestFeatures(t *testing.T) {
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh, Time: trace.Time{Calendar: trace.CalendarNone}}}
	for i := range 2000 {
		r := request(i, int64(i)*100_000, 100+i%900, 20, nil)
		r.Tools, r.Schema, r.ToolTok, r.SchemaT = trace.Some(i%5 == 0), trace.Some(i%7 == 0), trace.Some[int32](0), trace.Some[int32](0)
		if r.Tools.V {
			r.ToolTok = trace.Some(int32(40 + i%30))
		}
		if r.Schema.V {
			r.SchemaT = trace.Some(int32(80))
		}
		if i%11 == 0 {
			r.N = 4
		}
		x.Requests = append(x.Requests, r)
	}
	sp, err := fit.Fit(x, fit.Options{})
	check(t, err)
	y, err := synth.Trace(sp, synth.Options{Seed: 1})
	check(t, err)
	if l := fit.Lacking(&sp.Workload.Features, y); l != nil {
		t.Errorf("lacks %v", l)
	}
	for i := range y.Requests {
		r := &y.Requests[i]
		if r.Tools.V != (r.ToolTok.V > 0) || r.ToolTok.V >= 70 || r.Schema.V != (r.SchemaT.V > 0) || r.ToolTok.V+r.SchemaT.V > r.Input.V {
			t.Fatalf("request %d: tools %v, schema %v of %v tokens", i, r.ToolTok, r.SchemaT, r.Input)
		}
	}
	again := fit.Features(y)
	if d := float64(again.Several.Value - sp.Workload.Features.Several.Value); d > 0.02 || d < -0.02 {
		t.Errorf("several completions: %v of %v", again.Several.Value, sp.Workload.Features.Several.Value)
	}
}
