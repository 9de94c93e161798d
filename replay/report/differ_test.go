package report

import (
	"bytes"
	"strings"
	"testing"

	"reprise/replay"
)

// Runs side by side say in what they are not alike, and no percentage stands
// where a client was late.
func TestRunsThatAreNotAlikeSaySo(t *testing.T) {
	a, b := testRun(slo("ttft", 95, 300)), testRun(slo("ttft", 95, 200), slo("e2e", 90, 5000))
	a.Cache.Mode, b.Cache.Mode, a.Region, b.Region = "workload", "none", "eu", "us"
	a.Trace.SHA256, b.Trace.SHA256 = "aa", "bb"
	a.Shape, b.Shape = &replay.Shape{Arrivals: replay.Recorded}, &replay.Shape{Arrivals: replay.Poisson, Points: []replay.LoadPoint{{FromPerS: 10, ToPerS: 10}}}
	b.Verdict = replay.ClientVerdict{Verdict: replay.ClientLimited, Reason: "send lag p99 46 ms: above 5 ms"}
	r := build(t, Input{Run: a, Results: seq(ramp(240)), Label: "a"}, Input{Run: b, Results: seq(ramp(240)), Label: "b"})
	var text bytes.Buffer
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Differs: Trace", "Differs: Load", "Differs: Prefix cache", "Differs: Limits", "Differs: Region", "(n/a)", "p95 TTFT <= 200 ms (client)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "(+") || !strings.Contains(r.Detail, "They differ in more than what is measured: trace, load, prefix cache, limits, region, client.") {
		t.Errorf("%s", r.Detail)
	}
	if !strings.HasPrefix(r.Headline, "p95 TTFT: a 228 ms (limit 300 ms), met; b withheld") {
		t.Error(r.Headline)
	}
	same := build(t, Input{Run: a, Results: seq(ramp(240)), Label: "a"}, Input{Run: a, Results: seq(ramp(240)), Label: "c"})
	if len(same.differ()) != 0 || strings.Contains(same.Detail, "differ") {
		t.Errorf("%+v", same.differ())
	}
}

// A headline that would fill half a page stands below a short one.
func TestHeadlineOfManyRunsIsShort(t *testing.T) {
	long := strings.Repeat("a long name ", 20)
	r := build(t, Input{Run: testRun(slo("ttft", 95, 300)), Results: seq(ramp(240)), Label: long}, Input{Run: testRun(slo("ttft", 95, 300)), Results: seq(ramp(240)), Label: "b"})
	if r.Headline != "The limits are met (2 runs side by side)" || !strings.Contains(r.Detail, "228 ms") {
		t.Errorf("%q, %q", r.Headline, r.Detail)
	}
}
