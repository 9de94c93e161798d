package page

import (
	"bytes"
	stdhtml "html"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/spec"
)

// talked is a spec of a log with sessions, models, clients, tools and a common
// beginning.
func talked(t *testing.T) *spec.Spec {
	t.Helper()
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh, Time: trace.Time{ResolutionUS: 1, Calendar: trace.CalendarNone}}}
	rng := rand.New(rand.NewPCG(3, 3))
	next, last := int32(4), map[int32]int{}
	for i := range 1500 {
		session := int32(i / 3)
		r := trace.Request{ID: int64(i), N: 1, T: trace.Some(int64(i)*911_000 + rng.Int64N(500_000)), Output: trace.Some(int32(20 + rng.IntN(80))), Dur: trace.Some(int64(700_000)),
			Session: trace.Some(session), Turn: trace.Some(int32(i % 3)), Client: trace.Some(session % 7), Model: []string{"model1", "model2"}[session%2],
			Stream: trace.Some(true), Tools: trace.Some(i%4 == 0), Finish: []trace.Finish{trace.FinishStop, trace.FinishToolCalls}[rng.IntN(2)]}
		if i%4 == 0 {
			r.ToolTok = trace.Some(int32(300))
		}
		r.Blocks = append(r.Blocks, 0, 1, 2, 3)
		if p, ok := last[session]; ok {
			r.Blocks = append([]int32(nil), x.Requests[p].Blocks...)
		}
		for range 4 + rng.IntN(6) + int(session%7) {
			r.Blocks = append(r.Blocks, next)
			next++
		}
		r.Input = trace.Some(int32(16 * len(r.Blocks)))
		last[session] = i
		x.Requests = append(x.Requests, r)
	}
	sp, err := fit.Fit(x, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

func html(t *testing.T, sp *spec.Spec) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, sp); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "<script") || strings.Contains(s, "%!") {
		t.Error("the page has a number that is none, a script or a broken format")
	}
	return stdhtml.UnescapeString(strings.ReplaceAll(b.String(), "\u00a0", " "))
}

// TestKeys shows what the spec holds, in every section.
func TestKeys(t *testing.T) {
	sp := talked(t)
	p := &sp.Workload.Prefix
	by := spec.Provenance{From: spec.Estimate, N: 512}
	p.SetBroken([]spec.Broken{{Provenance: by, Share: 0.4, Now: 14, Would: 2014, At: 14}, {Provenance: by, Share: 0.25, Now: 30, Would: 830, At: 30},
		{Provenance: by, Share: 0.2, Now: 830, Would: 1330, At: 840, Behind: true}})
	sp.Workload.Sessions.Notes = []string{"a remark on sessions"}
	p.Identical[0].Exact = true
	got := html(t, sp)
	for _, want := range []string{
		"Whether long prompts get long answers", "Whether the mix held over the log", "Which client sends it explains", "model model2",
		"How bursty arrivals are", "busiest ÷ mean", "dispersion",
		"prompt tokens, hits in whole blocks only", "begin with the same 64 tokens", "of model model1", "exact to the token",
		"at token 14", "at token 30", "then at token 840", "40.0 %", "25.0 %", "+2,000", "+800", "+500", "65.0 % of the requests", "each of the 3 fields", "about 1,100 tokens more a request",
		"How large a cache must be", "A block that is used again", "hits on answers, at most", "Turns are known by the log's session ids",
		"Sessions that go on after each turn", "a person, from the answer", "a tool, from the call", "growth from turn to turn", "requests that are continued more than once",
		"a remark on sessions", "with tools", "takes 300 tokens (median)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(got, "Stated, not measured") {
		t.Error("a measured log is said to be stated")
	}
	p.SetBroken(nil)
	if strings.Contains(html(t, sp), "What breaks the prefix") {
		t.Error("a healthy prefix is said to be broken")
	}
}

// TestStated lists what a brief states, with how sure each number is.
func TestStated(t *testing.T) {
	sp := talked(t)
	w := &sp.Workload
	w.Lengths.Input.Mean = spec.AssumedNumber(12000, "tokens", "the prompt tokens of 200 requests")
	w.Lengths.Input.Mean.Confidence = "guessed"
	w.Features.Schema = &spec.Number{Value: 1, Unit: "1", From: spec.Assumed, Confidence: "measured", Ask: "one request"}
	w.Jobs = []spec.Job{{Name: "nightly", Requests: spec.AssumedNumber(40000, "requests", "a night"), WindowS: spec.AssumedNumber(28800, "s", "a night"), StartClock: "22:00", Zone: "Europe/Berlin"}}
	got := html(t, sp)
	for _, want := range []string{"Stated, not measured", "4 numbers of this spec rest on no log: 1 measured, 1 guessed, 2 not said", "12,000 tokens", "guessed", "40,000 requests", "within 8 h from 22:00 Europe/Berlin", "the prompt tokens of 200 requests"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestHeldBack shows tables whose ends did not leave.
func TestHeldBack(t *testing.T) {
	sp := talked(t)
	q := &sp.Workload.Lengths.Output.Quantiles
	q.P, q.Values = q.P[10:91], q.Values[10:91]
	if got := html(t, sp); !strings.Contains(got, heldBack) {
		t.Error("a quantile that is not there is shown")
	}
}

// TestWords writes numbers as people would.
func TestWords(t *testing.T) {
	for want, v := range map[string]float64{"0": 0, "1": 1, "1.52": 1.5213, "60": 60, "43.5": 43.51, "132": 132.4, "12,345": 12345.4, "0.0772": 0.077174, "-2.5": -2.5} {
		if got := Short(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
	for want, v := range map[string]float64{"0 s": 0, "12 ms": 0.012, "60 s": 60, "2.27 min": 136, "8 h": 28800, "7 days": 7 * 86400} {
		if got := Seconds(v); got != want {
			t.Errorf("%v s is written %q, want %q", v, got, want)
		}
	}
	one := &spec.Table{P: []spec.Num{0, 0.5, 1}, Values: []spec.Num{0, 10, 30}}
	if Quantile(one, 0.75) != 20 || Quantile(one, 0.5) != 10 {
		t.Errorf("quantiles of %v are %v and %v", one, Quantile(one, 0.75), Quantile(one, 0.5))
	}
}
