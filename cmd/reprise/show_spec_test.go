package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"reprise/fit"
	"reprise/fit/compare"
	"reprise/trace"
	"reprise/trace/spec"
)

// oneScreenLines is how many lines a screen shows; two broken prefixes, which few
// specs have, take ten more.
const oneScreenLines = 50 + 10

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
	sp.Workload.Lengths.Output.Cap = &spec.Cap{Value: 69, Share: 0.3}
	cut := spec.MeasuredNumber(0.12, "1", 1200)
	sp.Workload.Lengths.Output.Censored = &cut
	var b bytes.Buffer
	if err := specText(&b, sp); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{"answer depends on prompt", "second half of the log", "median prompt and answer", "model model2", "(guessed)", "30.0 % of answers at a limit of 69 tokens; 12.0 % of answers cut by max_tokens",
		"peak to mean", "dispersion", "hit rate", "in whole blocks only", "100 % of the prompts begin with the same 48 tokens", "generated before",
		"broken prefix: 40 %", "broken prefix: 25 %", "a person", "prompt grows", "of continued requests branch", "note: a remark on sessions", "stream 100.0 %", "model1 50.0 %"} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("show lacks %q", want)
		}
	}
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > oneScreen {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if n := strings.Count(got, "\n"); n > oneScreenLines || strings.Contains(got, "NaN") || strings.Contains(got, "%!") {
		t.Errorf("%d lines, or a number that is none:\n%s", n, got)
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
		if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, want) || strings.Contains(got, "the common one") {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

// TestCompareFits: the tables of a comparison fit a terminal of 80 columns, and
// keep every number whole.
func TestCompareFits(t *testing.T) {
	some := func(v float64) compare.Value { return compare.Value{OK: true, V: v} }
	r := &compare.Report{A: compare.Side{Kind: "trace", Requests: 123456, SpanS: some(86400)}, B: compare.Side{Kind: "trace", Requests: 123456, Draws: 20},
		Notes: []string{strings.Repeat("a note of some length ", 8)}}
	for _, section := range []string{"lengths", "prefix"} {
		r.Metrics = append(r.Metrics, compare.Metric{Section: section, Name: "hit rate of whole blocks, infinite cache", How: compare.Difference, A: some(12345.6), B: some(0.00012345), SD: some(0.0125),
			Off: some(0.123), Noise: some(0.321), Baseline: some(0.987), Limit: some(0.654), Verdict: compare.Pass, Why: "pass, within the noise of both"})
	}
	for _, width := range []int{80, 100} {
		var b bytes.Buffer
		if err := compareText(&b, r, []string{"a/rather/long/path/of/a.trace.parquet", "b.parquet"}, width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width || strings.HasSuffix(line, " \n") {
				t.Errorf("%d columns of %d, or blanks at the end: %q", n, width, line)
			}
		}
		for _, number := range []string{"1.235e+04", "0.0001234", "0.0125", "0.123", "0.987", "65.4"} {
			if !strings.Contains(b.String(), number) {
				t.Errorf("%s is cut in %d columns:\n%s", number, width, b.String())
			}
		}
	}
}
