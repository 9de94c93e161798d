package report

import (
	"bytes"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// A run that did not end says how many requests have no result, and concludes
// nothing.
func TestPartialRun(t *testing.T) {
	for _, limited := range []bool{false, true} {
		run := testRun()
		if limited {
			run = testRun(slo("ttft", 95, 1000))
		}
		run.Status, run.Planned, run.Verdict = replay.Running, 272, replay.ClientVerdict{}
		r, err := Build(trace.Tool{}, Input{Run: run, Results: seq(ramp(200)), Cut: 17})
		if err != nil {
			t.Fatal(err)
		}
		s := r.Summaries[0]
		if r.Verdict != CannotSay || r.Exit != 4 || s.Load.Planned != 272 || s.Load.Missing != 72 || s.Goodput.Good != nil {
			t.Errorf("%s, exit %d, %+v, %+v", r.Verdict, r.Exit, s.Load, s.Goodput)
		}
		var b bytes.Buffer
		if err := r.Text(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"still runs or was killed", "72 requests have no result", "without a result", "17 bytes of the spool are damaged"} {
			if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
				t.Errorf("the report does not say %q:\n%s", want, &b)
			}
		}
	}
}

func TestReasonsAreInTheReport(t *testing.T) {
	run := testRun()
	run.Outcomes = []replay.Outcome{{Class: "http_429", N: 1, Reason: "HTTP 429: slow down"}}
	r := build(t, Input{Run: run, Results: seq(append(ramp(10), failed(0, replay.HTTP429)))})
	var b bytes.Buffer
	if err := r.Text(&b); err != nil || !strings.Contains(b.String(), "HTTP 429: slow down") {
		t.Errorf("%v\n%s", err, &b)
	}
}

func TestAbortedRunIsNotTrusted(t *testing.T) {
	run := testRun()
	run.Status, run.AbortReason = replay.Aborted, "interrupted"
	if r := build(t, Input{Run: run, Results: seq(ramp(300))}); r.Exit != 4 || !strings.Contains(r.Headline, "aborted (interrupted)") {
		t.Errorf("exit %d, %q", r.Exit, r.Headline)
	}
}

// The server's count of the prompts tells whether it was the planned load.
func TestAnotherLoad(t *testing.T) {
	for _, c := range []struct {
		in, out int32
		exit    int
		detail  string
	}{
		{100, 5, 0, ""}, {101, 5, 0, ""}, {102, 5, 0, "2 % more input tokens than planned"}, {105, 5, 0, "5 % more"},
		{106, 5, 4, "6 % more"}, {94, 5, 4, "6 % fewer"}, {100, 4, 0, "20 % fewer output tokens"},
	} {
		rs := ramp(300)
		for i := range rs {
			rs[i].InUsage, rs[i].OutUsage = some32(c.in), some32(c.out)
		}
		r := build(t, Input{Run: testRun(slo("ttft", 95, 1000)), Results: seq(rs)})
		if r.Exit != c.exit || !strings.Contains(r.Detail, c.detail) || c.detail == "" && strings.Contains(r.Detail, "counted") {
			t.Errorf("%d in, %d out: exit %d, %q", c.in, c.out, r.Exit, r.Detail)
		}
	}
}

// Without the time per token of most answers there is no goodput under a limit
// on it; a failed run has none either.
func TestGoodputIsWithheld(t *testing.T) {
	r := build(t, Input{Run: testRun(slo("tpot", 95, 10)), Results: seq(append(ramp(10), burstOf(200)...))})
	if g := r.Summaries[0].Goodput; g.Good != nil || g.PerS != nil || !strings.Contains(r.Detail, "Goodput is withheld: the time per token of 200 answers") {
		t.Errorf("%+v, %q", g, r.Detail)
	}
	run := testRun(slo("ttft", 95, 1000))
	run.Status = replay.Aborted
	if r = build(t, Input{Run: run, Results: seq(ramp(300))}); r.Summaries[0].Goodput.Good != nil {
		t.Errorf("%+v", r.Summaries[0].Goodput)
	}
}

func TestCachedAbovePrompt(t *testing.T) {
	rs := ramp(10)
	rs[3].Cached = some32(5000)
	if s := metricsOf(rs...).Summary(testRun()); s.Cache.Measured != nil || !strings.Contains(strings.Join(s.Notes, " "), "more cached tokens than the prompt") {
		t.Errorf("%+v %v", s.Cache, s.Notes)
	}
}

// Who counted the answers is told as it was: the server by its usage, or we.
func TestWhoCounted(t *testing.T) {
	for _, c := range []struct {
		usage func(i int) bool
		want  string
	}{
		{func(int) bool { return true }, "the server counted 20 % more output tokens than planned (7,200 for 6,000)"},
		{func(int) bool { return false }, "our own tokenizer, since the server gave no usage, counted 20 % more output"},
		{func(i int) bool { return i%2 == 0 }, "the server, and our own tokenizer for the 150 of 300 answers without usage, counted 20 % more output"},
	} {
		rs := paced(300, 100, 1, 0)
		for i := range rs {
			rs[i].OutAsked, rs[i].OutUsage, rs[i].OutLocal = trace.Some[int32](20), trace.Opt[int32]{}, trace.Some[int32](24)
			if c.usage(i) {
				rs[i].OutUsage = trace.Some[int32](24)
			}
		}
		r := build(t, Input{Run: testRun(), Results: seq(rs)})
		if got := r.Summaries[0].mismatch(); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
