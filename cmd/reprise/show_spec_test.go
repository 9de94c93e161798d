package main

import (
	"bytes"
	"strings"
	"testing"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/spec"
)

// oneScreen is how many lines a terminal shows.
const oneScreen = 50

// TestShowSpec shows what a spec holds on one screen.
func TestShowSpec(t *testing.T) {
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh, Time: trace.Time{ResolutionUS: 1, Calendar: trace.CalendarNone}}}
	next := int32(3)
	for i := range 1200 {
		session, turn := int32(i/3), i%3
		r := trace.Request{ID: int64(i), N: 1, T: trace.Some(int64(i)*1_300_000 + int64(i*i%700_000)), Output: trace.Some(int32(20 + i*7%50)), Dur: trace.Some(int64(500_000)),
			Session: trace.Some(session), Turn: trace.Some(int32(turn)), Client: trace.Some(session % 5), Model: []string{"model1", "model2"}[session%2], Finish: trace.FinishStop, Stream: trace.Some(true)}
		r.Blocks = []int32{0, 1, 2}
		if turn > 0 {
			r.Blocks = append([]int32(nil), x.Requests[i-1].Blocks...)
		}
		for range 3 + int(session%5) {
			r.Blocks, next = append(r.Blocks, next), next+1
		}
		r.Input = trace.Some(int32(16 * len(r.Blocks)))
		x.Requests = append(x.Requests, r)
	}
	sp, err := fit.Fit(x, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	by := spec.Provenance{From: spec.Estimate, N: 512}
	sp.Workload.Prefix.SetBroken([]spec.Broken{{Provenance: by, Share: 0.4, Now: 14, Would: 2014, At: 14}, {Provenance: by, Share: 0.25, Now: 30, Would: 830, At: 30}})
	sp.Workload.Sessions.Notes = []string{"a remark on sessions"}
	sp.Workload.Lengths.Output.Mean.From, sp.Workload.Lengths.Output.Mean.Confidence = spec.Assumed, "guessed"
	var b bytes.Buffer
	if err := specText(&b, sp); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{"answer depends on prompt", "second half of the log", "median prompt and answer", "model model2", "between clients", "(guessed)",
		"peak to mean", "dispersion", "hit rate", "hits in whole blocks only", "100 % of the prompts begin with the same 48 tokens", "byte-identical by", "generated before",
		"broken prefix: 40 %", "broken prefix: 25 %", "go on after turn", "a person", "prompt grows", "of continued requests branch", "note: a remark on sessions", "stream 100.0 %", "model1 50.0 %"} {
		if !strings.Contains(got, want) {
			t.Errorf("show lacks %q", want)
		}
	}
	if n := strings.Count(got, "\n"); n > oneScreen || strings.Contains(got, "NaN") || strings.Contains(got, "%!") {
		t.Errorf("%d lines, or a number that is none:\n%s", n, got)
	}
}

// TestGapsOfOneShape names no estimator without its estimate.
func TestGapsOfOneShape(t *testing.T) {
	shape := spec.MeasuredNumber(0.5, "1", 100)
	for want, g := range map[string]*spec.GammaShape{"gamma shape by moments 0.5": {Moments: &shape}, "gamma shape by MLE 0.5": {MLE: &shape}, "": {}} {
		if got := gaps(&spec.Arrivals{Gamma: g}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNothingCommon: without a common beginning none is told of, and of a log
// without text or blocks it is said that nothing is known.
func TestNothingCommon(t *testing.T) {
	n := spec.MeasuredNumber(0.634, "1", 900)
	for want, p := range map[string]*spec.Prefix{
		"of 16 tokens; 63.4 % of requests share a beginning": {BlockTokens: 16, ShareRequests: &n, ShareBeyond: &n},
		"neither their text nor prefix blocks":               {BlockTokens: 16},
	} {
		var b bytes.Buffer
		prefixTable(&b, p)
		if got := b.String(); !strings.Contains(got, want) || strings.Contains(got, "the common one") {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
