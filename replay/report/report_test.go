package report

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

func seq(rs []replay.Result) iter.Seq2[replay.Result, error] {
	return func(yield func(replay.Result, error) bool) {
		for _, r := range rs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func build(t *testing.T, in ...Input) *Report {
	t.Helper()
	for _, i := range in {
		n := int64(0)
		for range i.Results {
			n++
		}
		i.Run.Planned = n
	}
	r, err := Build(trace.Tool{Name: "reprise", Version: "1.2.3", Commit: "abcdef0123456789"}, in...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// paced has n answers, one each gapMS, slower by the factor slow.
func paced(n int, gapMS, slow float64, point int32) []replay.Result {
	var out []replay.Result
	for i := range n {
		r := answered(float64(i)*gapMS, 0.25, slow*(20+float64(i%100)), 10*slow, 20)
		r.Point = point
		out = append(out, r)
	}
	return out
}

func TestHeadlineAnswersTheQuestion(t *testing.T) {
	r := build(t, Input{Run: testRun(slo("ttft", 95, 800), slo("tpot", 95, 8)), Results: seq(ramp(300))})
	want := "At 10.0 requests/s offered (open loop, eu-west-1) p95 TTFT is 285 ms (limit 800 ms): met; p95 TPOT 10.0 ms (limit 8.00 ms): missed"
	if r.Headline != want {
		t.Errorf("headline is\n%s\nwant\n%s", r.Headline, want)
	}
}

func TestSweepSaysUpToWhere(t *testing.T) {
	var rs []replay.Result
	for i, slow := range []float64{1, 2, 8, 16} {
		rs = append(rs, paced(400, 1000/float64(i+1), slow, int32(i))...)
	}
	r := build(t, Input{Run: testRun(slo("ttft", 95, 500)), Results: seq(rs)})
	if r.Shape != LoadCurve || r.Verdict != Met || r.Exit != 0 {
		t.Errorf("shape %s, verdict %s, exit %d", r.Shape, r.Verdict, r.Exit)
	}
	if !strings.Contains(r.Headline, "All limits hold up to 2.00 requests/s offered; at 3.00 requests/s p95 TTFT is 912 ms (limit 500 ms): missed.") {
		t.Errorf("headline is %q", r.Headline)
	}
	r = build(t, Input{Run: testRun(slo("ttft", 95, 1)), Results: seq(rs)})
	if r.Verdict != Missed || r.Exit != 3 {
		t.Errorf("held nowhere: verdict %s, exit %d", r.Verdict, r.Exit)
	}
}

func TestRunsSideBySide(t *testing.T) {
	run := testRun(slo("ttft", 95, 150))
	r := build(t, Input{Run: run, Results: seq(paced(400, 100, 1, 0)), Label: "from the trace"},
		Input{Run: run, Results: seq(paced(400, 101, 2, 0)), Label: "synthetic"})
	if r.Shape != Comparison || r.Verdict != Missed || r.Exit != 3 {
		t.Errorf("shape %s, verdict %s, exit %d", r.Shape, r.Verdict, r.Exit)
	}
	if want := "p95 TTFT (limit 150 ms): from the trace 114 ms, met; synthetic 228 ms, missed"; r.Headline != want {
		t.Errorf("headline is %q, want %q", r.Headline, want)
	}
}

// Runs that make a curve answer for the worst that is known of them: limits that
// are missed, a run that was aborted, not that the first of them has no limit.
func TestCurveOfSeveralRuns(t *testing.T) {
	free, missed, aborted := testRun(), testRun(slo("ttft", 95, 1)), testRun()
	aborted.Status, aborted.AbortReason = replay.Aborted, "interrupted"
	for _, c := range []struct {
		name   string
		labels [3]string
		runs   [3]*replay.Run
		named  bool
		shape  string
		exit   int
	}{
		{"no limits", [3]string{"a", "b", "c"}, [3]*replay.Run{free, free, free}, false, LoadCurve, 0},
		{"one aborted", [3]string{"a", "b", "c"}, [3]*replay.Run{free, free, aborted}, false, LoadCurve, 4},
		{"one missed", [3]string{"a", "b", "c"}, [3]*replay.Run{free, free, missed}, false, LoadCurve, 3},
		{"one label", [3]string{"a", "a", "a"}, [3]*replay.Run{free, missed, free}, true, LoadCurve, 3},
		{"labels apart", [3]string{"a", "b", "c"}, [3]*replay.Run{free, missed, free}, true, Comparison, 3},
	} {
		var in []Input
		for i, run := range c.runs {
			in = append(in, Input{Run: run, Results: seq(paced(400, 200/float64(i+1), 1, 0)), Label: c.labels[i], Named: c.named})
		}
		r := build(t, in...)
		if r.Shape != c.shape || r.Exit != c.exit {
			t.Errorf("%s: shape %s, verdict %s, exit %d: %s", c.name, r.Shape, r.Verdict, r.Exit, r.Headline)
		}
		for i, s := range r.Summaries {
			if !strings.HasPrefix(s.Name, c.labels[i]) || i > 0 && s.Name == r.Summaries[i-1].Name {
				t.Errorf("%s: run %d is called %q", c.name, i, s.Name)
			}
		}
	}
	// Two curves: that one holds somewhere does not answer for the other.
	met := testRun(slo("ttft", 95, 500))
	both := build(t, Input{Run: met, Results: seq(append(paced(400, 200, 1, 0), paced(400, 100, 1, 1)...)), Label: "a"},
		Input{Run: missed, Results: seq(append(paced(400, 200, 1, 0), paced(400, 100, 1, 1)...)), Label: "b"})
	if both.Shape != LoadCurve || both.Exit != 3 {
		t.Errorf("shape %s, exit %d: %s", both.Shape, both.Exit, both.Headline)
	}
	// Other work is another curve, whatever its rate.
	other := testRun()
	other.Trace.SHA256, other.Spec = "ffff", nil
	apart := build(t, Input{Run: free, Results: seq(paced(400, 200, 1, 0)), Label: "a"}, Input{Run: free, Results: seq(paced(400, 100, 1, 0)), Label: "b"},
		Input{Run: other, Results: seq(paced(400, 50, 1, 0)), Label: "c"})
	if apart.Shape != Comparison {
		t.Errorf("shape %s", apart.Shape)
	}
}

func TestOnePointOfAClientLimitedRunIsSpared(t *testing.T) {
	rs := paced(300, 10, 1, 0)
	for _, q := range paced(300, 5, 1, 1) {
		q.WriteEnd = trace.Some(q.Sched + 20*msNS)
		rs = append(rs, q)
	}
	run := testRun(slo("ttft", 95, 500))
	run.Verdict = replay.ClientVerdict{Verdict: replay.ClientLimited, Reason: "p99 send lag 20 ms"}
	r := build(t, Input{Run: run, Results: seq(rs)})
	if a, b := r.Summaries[0], r.Summaries[1]; a.Client.Withheld() || a.Verdict != Met || !b.Client.Withheld() || b.Verdict != CannotSay {
		t.Errorf("point 1 %s %s, point 2 %s %s", a.Client.Verdict, a.Verdict, b.Client.Verdict, b.Verdict)
	}
}

func TestBuildRefuses(t *testing.T) {
	if _, err := Build(trace.Tool{}); err == nil {
		t.Error("no input gave a report")
	}
	bad := func(yield func(replay.Result, error) bool) {
		yield(replay.Result{}, errors.New("row group 2: bad page"))
	}
	if _, err := Build(trace.Tool{}, Input{Run: testRun(), Results: bad, Label: "a"}); err == nil || !strings.Contains(err.Error(), "results 1 (a): row group 2") {
		t.Errorf("error is %v", err)
	}
	if _, err := Build(trace.Tool{}, Input{}); err == nil {
		t.Error("an input without a run gave a report")
	}
}

func TestAnEmptyRunIsReported(t *testing.T) {
	r := build(t, Input{Run: testRun(slo("ttft", 95, 500)), Results: seq(nil)})
	if r.Verdict != CannotSay || r.Exit != 4 || r.Summaries[0].Load.Planned != 0 {
		t.Errorf("verdict %s, exit %d", r.Verdict, r.Exit)
	}
}

func TestMissingRowsAreNoted(t *testing.T) {
	run := testRun()
	run.Planned = 12
	r, err := Build(trace.Tool{}, Input{Run: run, Results: seq(ramp(10))})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Join(r.Summaries[0].Notes, "\n"); !strings.Contains(n, "12 requests were planned; the results hold 10 rows") {
		t.Errorf("notes are %q", n)
	}
}
