package report

import (
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/trace/spec"
)

// pieced is an answer of so many tokens whose events come with these gaps, µs.
func pieced(i int64, tokens int32, gaps ...int32) replay.Result {
	r := streamed(i, gaps...)
	r.OutUsage = trace.Some(tokens)
	return r
}

// Tokens that come in few pieces have no time per token, unless they are as few.
func TestFewPiecesHaveNoTPOT(t *testing.T) {
	for _, c := range []struct {
		name string
		r    replay.Result
		tpot int64 // absent: none
	}{
		{"one, and the others at once", pieced(0, 40, 80), absent},
		{"two of twenty", pieced(0, 40, 20_000), absent},
		{"three of several", pieced(0, 40, 20_000, 20_000), absent},
		{"three instants, more events", pieced(0, 40, 20_000, 0, 20_000, 0, 0), absent},
		{"four of ten", pieced(0, 41, 20_000, 20_000, 20_000), 1.5e6},
		{"one a piece", pieced(0, 3, 20_000, 20_000), 20e6},
		{"two a piece", pieced(0, 4, 30_000), 10e6},
		{"five in two", pieced(0, 5, 30_000), absent},
	} {
		if s := newSample(&c.r); s.tpot != c.tpot || s.unpaced() != (c.tpot == absent) {
			t.Errorf("%s: %d, want %d", c.name, s.tpot, c.tpot)
		}
	}
}

// How many they are is said, on top where they are many, and no limit on TPOT is
// judged without them.
func TestFewPiecesAreSaid(t *testing.T) {
	of := func(few int) []replay.Result {
		var rs []replay.Result
		for i := range 100 {
			r := pieced(int64(i), 7, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000)
			if i < few {
				r = pieced(int64(i), 40, 80)
			}
			rs = append(rs, r)
		}
		return rs
	}
	for _, c := range []struct {
		few    int
		noted  bool
		on     bool
		tpot90 Verdict
	}{{0, false, false, Met}, {2, true, false, Met}, {40, true, true, CannotSay}} {
		run := testRun(spec.SLO{Metric: "tpot", Percentile: 90, ThresholdMS: 20, MeasuredAt: "client"})
		s, text := reportOf(t, run, of(c.few))
		if s.Streams.Few != int64(c.few) || strings.Contains(text, "came in fewer than 4 pieces") != c.noted || strings.Contains(s.detail(), "in too few events to have a TPOT") != c.on {
			t.Errorf("%d: %d\n%s\n%s", c.few, s.Streams.Few, s.detail(), text)
		}
		if s.SLO[0].Verdict != c.tpot90 || s.latency("tpot", "").N != int64(100-c.few) {
			t.Errorf("%d: %+v, n=%d", c.few, s.SLO[0], s.latency("tpot", "").N)
		}
	}
}

// A headline with a TTFT that may be one of a place-holder says so.
func TestHeadlineHintsAtPlaceHolder(t *testing.T) {
	of := func(first int32) (rs []replay.Result) {
		for i := range int64(200) {
			rs = append(rs, streamed(i, first, 10_000, 10_000, 10_000, 10_000, 10_000))
		}
		return rs
	}
	const hint, short = "; TTFT may be that of a place-holder: see the notes", " (perhaps a place-holder's)"
	ttft, e2e := slo("ttft", 90, 500), slo("e2e", 90, 500)
	for _, c := range []struct {
		limits []spec.SLO
		first  int32
		want   bool
	}{{nil, 200_000, true}, {nil, 10_000, false}, {[]spec.SLO{ttft}, 200_000, true}, {[]spec.SLO{ttft}, 10_000, false}, {[]spec.SLO{e2e}, 200_000, false},
		{[]spec.SLO{e2e, slo("e2e", 50, 500), ttft}, 200_000, true}} {
		s, _ := reportOf(t, testRun(c.limits...), of(c.first))
		if got := s.headline(); strings.HasSuffix(got, hint) != c.want {
			t.Errorf("%v, %d µs: %s", c.limits, c.first, got)
		}
		want := c.want && len(c.limits) == 1
		if got := s.figure(&SLOResult{Metric: "ttft", Percentile: 90}, false); len(c.limits) == 1 && strings.HasSuffix(got, short) != (c.first == 200_000) {
			t.Errorf("beside others, %v, %d µs: %s", c.limits, c.first, got)
		}
		if got := s.short(); len(c.limits) == 1 && strings.HasSuffix(got, short) != want {
			t.Errorf("of a curve, %v, %d µs: %s", c.limits, c.first, got)
		}
	}
}
