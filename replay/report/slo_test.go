package report

import (
	"math"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/trace/spec"
)

// bare has n answers without content.
func bare(n int) []replay.Result {
	rs := ramp(n)
	for i := range rs {
		r := &rs[i]
		r.FirstContent, r.FirstAnswer, r.LastContent, r.Gaps, r.NEvents, r.NReads = trace.Opt[int64]{}, trace.Opt[int64]{}, trace.Opt[int64]{}, nil, 0, 0
	}
	return rs
}

// burstOf has n answers that came in one event each.
func burstOf(n int) []replay.Result {
	rs := ramp(n)
	for i := range rs {
		rs[i].LastContent, rs[i].Gaps, rs[i].NEvents, rs[i].NReads = rs[i].FirstContent, nil, 1, 1
	}
	return rs
}

// boasting has n answers whose usage is over what was asked.
func boasting(n int) []replay.Result {
	rs := ramp(n)
	for i := range rs {
		rs[i].OutUsage = some32(999)
	}
	return rs
}

func TestLimits(t *testing.T) {
	fails := func(n int, rs []replay.Result) []replay.Result {
		for i := range n {
			rs = append(rs, failed(float64(i), replay.HTTP429))
		}
		return rs
	}
	for _, c := range []struct {
		name   string
		rs     []replay.Result
		slo    spec.SLO
		want   Verdict
		reason string
		inf    bool
	}{
		{"exactly at the limit", ramp(200), slo("ttft", 95, 190), Met, "met by 0 ms", false},
		{"a hair over", ramp(200), slo("ttft", 95, 189.749), Missed, "missed by 0.251 ms", false},
		{"a hair over, and less than the client was late", ramp(200), slo("ttft", 95, 189.75), CannotSay, "over the limit by 0.250 ms, but by what this client itself was late: without that p95 is 190 ms", false},
		{"well met", ramp(200), slo("ttft", 50, 150), Met, "met by 50.0 ms", false},
		{"too few to say it is met", ramp(199), slo("ttft", 95, 1000), CannotSay, "not enough requests for p95 (n=199, needs 200)", false},
		{"few, but ten over the limit", ramp(50), slo("ttft", 99, 40), Missed, "missed by 10.0 ms", false},
		{"few, nine over the limit", ramp(49), slo("ttft", 99, 40), CannotSay, "not enough requests for p99", false},
		{"failures push the rank up", fails(5, ramp(200)), slo("ttft", 95, 194), Missed, "5 failed requests count as infinitely late", false},
		{"failures within the slack", fails(5, ramp(200)), slo("ttft", 95, 195), Met, "met by 5.00 ms", false},
		{"failures are the percentile", fails(50, ramp(200)), slo("ttft", 95, 500), Missed, "50 failed requests", true},
		{"every request", ramp(20), slo("ttft", 100, 20), Met, "met by 0 ms", false},
		{"nothing answered", fails(30, nil), slo("ttft", 95, 500), Missed, "all 30 failed", true},
		{"no gap anywhere", fails(30, nil), slo("itl", 95, 500), Missed, "all 30 failed", true},
		{"answers without content", bare(200), slo("ttft", 95, 500), Missed, "all 200 failed", true},
		{"some answers without content", append(ramp(200), bare(50)...), slo("ttft", 95, 500), Missed, "50 failed requests", true},
		{"all at once", burstOf(200), slo("tpot", 95, 10), CannotSay, "of 200 answers is not known", false},
		{"usage above what was asked", boasting(200), slo("tpot", 95, 10), CannotSay, "is not known", false},
		{"a few all at once change nothing", append(ramp(400), burstOf(4)...), slo("tpot", 95, 10), Met, "", false},
		{"tokens", ramp(200), slo("tpot", 95, 10), Met, "", false},
		{"gaps", ramp(200), slo("itl", 99, 9.999), Missed, "missed by 0.001 ms", false},
		{"end to end", ramp(200), slo("e2e", 95, 231), Met, "met by 0 ms", false},
	} {
		s := metricsOf(c.rs...).Summary(testRun(c.slo))
		r := s.SLO[0]
		if r.Verdict != c.want || !strings.Contains(r.Reason, c.reason) || r.Infinite != c.inf {
			t.Errorf("%s: %s (%s), infinite %v; want %s (%s), %v", c.name, r.Verdict, r.Reason, r.Infinite, c.want, c.reason, c.inf)
		}
		if s.Verdict != c.want {
			t.Errorf("%s: summary says %s", c.name, s.Verdict)
		}
	}
}

func TestWhatCannotBeSaid(t *testing.T) {
	base := slo("ttft", 95, 1000)
	for _, c := range []struct {
		name   string
		change func(*replay.Run)
		reason string
	}{
		{"server", func(r *replay.Run) { r.SLO[0].MeasuredAt = "server" }, "server's own measurement"},
		{"client-limited", func(r *replay.Run) {
			r.Verdict = replay.ClientVerdict{Verdict: replay.ClientLimited, Reason: "p99 send lag 46 ms"}
		}, "client was late"},
		{"aborted", func(r *replay.Run) { r.Status = replay.Aborted }, "aborted"},
		{"killed", func(r *replay.Run) { r.Status = replay.Running }, "did not end"},
		{"not streamed", func(r *replay.Run) { r.Endpoint.Streaming = false }, "not streamed"},
	} {
		run := testRun(base)
		c.change(run)
		rep := build(t, Input{Run: run, Results: seq(ramp(300))})
		if rep.Verdict != CannotSay || rep.Exit != 4 || !strings.Contains(rep.Summaries[0].SLO[0].Reason, c.reason) {
			t.Errorf("%s: %s, exit %d, %q", c.name, rep.Verdict, rep.Exit, rep.Summaries[0].SLO[0].Reason)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		slo  []spec.SLO
		exit int
	}{{nil, 0}, {[]spec.SLO{slo("ttft", 95, 1000)}, 0}, {[]spec.SLO{slo("ttft", 95, 1)}, 3},
		{[]spec.SLO{slo("ttft", 95, 1000), slo("ttft", 99.9, 1000)}, 4}, {[]spec.SLO{slo("ttft", 99.9, 1000), slo("ttft", 95, 1)}, 3}} {
		if rep := build(t, Input{Run: testRun(c.slo...), Results: seq(ramp(300))}); rep.Exit != c.exit {
			t.Errorf("%v: exit %d, want %d", c.slo, rep.Exit, c.exit)
		}
	}
}

func TestClientLimitedWithholdsTheHeadline(t *testing.T) {
	run := testRun(slo("ttft", 95, 1000))
	run.Verdict = replay.ClientVerdict{Verdict: replay.ClientLimited, Reason: "p99 send lag 46 ms"}
	rep := build(t, Input{Run: run, Results: seq(ramp(300))})
	if !strings.HasPrefix(rep.Headline, "No result: the client was late") || !strings.Contains(rep.Reason, "46 ms") {
		t.Errorf("headline is %q", rep.Headline)
	}
	if g := rep.Summaries[0].Goodput; g.PerS != nil || g.Share != nil || g.Good != nil {
		t.Errorf("goodput is given: %+v", g)
	}
	if x := rep.Summaries[0].SLO[0]; x.MS != nil || x.MarginMS != nil {
		t.Errorf("a number stands beside the limit: %+v", x)
	}
	run.Verdict = replay.ClientVerdict{Verdict: replay.Usable}
	late := ramp(300)
	for i := range late {
		late[i].WriteEnd.V += 4 * msNS
	}
	if rep = build(t, Input{Run: run, Results: seq(late)}); !strings.Contains(rep.Headline, "p95 TTFT is 285 ms −4.25 ms (limit 1,000 ms): met") {
		t.Errorf("a usable client's headline is %q", rep.Headline)
	}
	// Its error is one-sided, so no page may have it go either way.
	if page := pageOf(t, rep); strings.Contains(page, "±5") || strings.Contains(page, "±4") || !strings.Contains(page, "−4.25") {
		t.Error("the page of a usable client has another error than its headline")
	}
}

func TestKilledRunGetsItsVerdictFromTheLag(t *testing.T) {
	run := testRun()
	run.Status, run.Verdict = replay.Running, replay.ClientVerdict{}
	for lag, want := range map[float64]string{0.5: replay.Clean, 3: replay.Usable, 8: replay.ClientLimited} {
		var rs []replay.Result
		for i := range 100 {
			rs = append(rs, answered(float64(i), lag, 20, 1, 3))
		}
		if got := metricsOf(rs...).Summary(run).Client.Verdict; got != want {
			t.Errorf("lag %v ms is %s, want %s", lag, got, want)
		}
	}
}

func TestGoodput(t *testing.T) {
	run := testRun(slo("ttft", 50, 1), slo("ttft", 95, 150), slo("tpot", 95, 10))
	rs := ramp(200)
	rs[0].OutUsage, rs[0].OutLocal = some32(1), some32(1) // one token: no TPOT to miss
	rs[1].OutUsage, rs[1].OutLocal = some32(3), some32(3) // 20 ms a token: over
	rs[2].OutUsage, rs[2].OutLocal = trace.Opt[int32]{}, trace.Opt[int32]{}
	for i := range 50 {
		rs = append(rs, failed(float64(i), replay.Overload))
	}
	s := metricsOf(rs...).Summary(run)
	if *s.Goodput.Good != 148 || *s.Goodput.Share != 148.0/250 {
		t.Errorf("good %d, share %v; want 148 of 250", *s.Goodput.Good, *s.Goodput.Share)
	}
	if want := 148 / s.Load.SpanS; math.Abs(*s.Goodput.PerS-want) > 1e-9 { // over the time of the answers
		t.Errorf("goodput is %v/s, want %v", *s.Goodput.PerS, want)
	}
	if got := strings.Join(s.Goodput.Limits, ", "); got != "TTFT <= 150 ms, TPOT <= 10 ms" {
		t.Errorf("limits on a request are %q", got)
	}
}
