package report

import (
	"math"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/trace/spec"
)

// lagging has n answers that came 50 ms after they were sent, each sent lag ms
// late, of that handshake ms for a new connection.
func lagging(n int, lag, handshake float64) []replay.Result {
	var out []replay.Result
	for i := range n {
		r := answered(float64(i)*10, lag, 50+lag, 10, 21)
		if r.Reused = trace.Some(handshake == 0); handshake > 0 {
			r.TCP = some64(int64(handshake * 1000))
		}
		out = append(out, r)
	}
	return out
}

// straggling has 200 answers of a p90 TTFT of 51 ms, of which ten, faster than
// that, were sent 4 ms late.
func straggling() []replay.Result {
	out := lagging(200, 0, 0)
	for i := range out {
		out[i] = answered(float64(i)*10, 0, 51, 10, 21)
		if i < 10 {
			out[i] = answered(float64(i)*10, 4, 34, 10, 21)
		}
	}
	return out
}

func refused(n int) (out []replay.Result) {
	for i := range n {
		out = append(out, failed(float64(i)*10, replay.HTTP5xx))
	}
	return out
}

// measured is a run with stamps of the kernel or of the reader, whose heartbeat
// was late by heart ms and where a share of the events came in one read.
func measured(stamps string, heart, shared float64, limit spec.SLO) *replay.Run {
	run := testRun(limit)
	run.Clock.Stamps = stamps
	run.Verdict = replay.ClientVerdict{Verdict: replay.Usable, HeartP99MS: &heart, Shared: &shared}
	return run
}

// No verdict comes of the client's own error: a miss from the planned instant
// must be one from sending too, and a margin of a gap must be more than what the
// stamps may be wrong by. What the client was late can only have lengthened a
// TTFT, so one that is met is met.
func TestVerdictsBeyondTheClientsError(t *testing.T) {
	for _, c := range []struct {
		name   string
		rs     []replay.Result
		run    *replay.Run
		want   Verdict
		reason string
	}{
		{"missed by the lag alone", lagging(200, 1.4, 0), measured("kernel", 3, 0, slo("ttft", 90, 51)), CannotSay, "over the limit by 0.400 ms, but by what this client itself was late: without that p90 is 50.0 ms"},
		{"missed from sending as well", lagging(200, 1.4, 0), measured("kernel", 3, 0, slo("ttft", 90, 49.9)), Missed, "missed by 1.50 ms"},
		{"met with the lag", lagging(200, 1.4, 0), measured("kernel", 3, 0, slo("ttft", 90, 52)), Met, "met by 0.600 ms"},
		{"missed by the handshake", lagging(200, 4, 3.9), measured("kernel", 3, 0, slo("ttft", 90, 51)), Missed, "missed by 3.00 ms"},
		{"missed by less than late reads", lagging(200, 0.1, 0), measured("user", 3, 0, slo("ttft", 90, 49)), CannotSay, "over the limit by 1.10 ms, but by what this client itself was late: without that p90 is 50.0 ms, and its stamps may be up to 3.00 ms late"},
		{"missed by more than late reads", lagging(200, 0.1, 0), measured("user", 3, 0, slo("ttft", 90, 46.5)), Missed, "missed by 3.60 ms"},
		{"the end by the lag alone", lagging(200, 1.4, 0), measured("kernel", 3, 0, slo("e2e", 90, 252)), CannotSay, "without that p90 is 251 ms"},
		{"the end by the lag and late reads", lagging(200, 1.4, 0), measured("user", 3, 0, slo("e2e", 90, 249)), CannotSay, "without that p90 is 251 ms, and its stamps may be up to 3.00 ms late"},
		{"the lag alone, of late reads", lagging(200, 1.4, 0), measured("user", 3, 0, slo("ttft", 90, 51)), CannotSay, "without that p90 is 50.0 ms"},
		{"missed by less than the p99 lag", straggling(), measured("kernel", 3, 0, slo("ttft", 90, 50)), Missed, "missed by 1.00 ms, also without the client's lag"},
		{"gaps of failures alone", append(lagging(200, 1.4, 0), refused(100)...), measured("user", 3, 0, slo("tpot", 90, 10.1)), Missed, "100 failed requests count as infinitely late"},
		{"a time per token by kernel stamps", lagging(200, 1.4, 0), measured("kernel", 3, 0, slo("tpot", 90, 9.99)), Missed, "missed by 0.010 ms"},
		{"a time per token by late reads", lagging(200, 1.4, 0), measured("user", 3, 0, slo("tpot", 90, 9.99)), CannotSay, "missed by 0.010 ms, which is within this client's error of ±0.150 ms: its stamps may be up to 3.00 ms late"},
		{"met within late reads", lagging(200, 1.4, 0), measured("user", 3, 0, slo("tpot", 90, 10.1)), CannotSay, "met by 0.100 ms, which is within this client's error of ±0.150 ms: its stamps may be up to 3.00 ms late"},
		{"met beyond late reads", lagging(200, 1.4, 0), measured("user", 3, 0, slo("tpot", 90, 10.2)), Met, "met by 0.200 ms"},
		{"gaps by late reads", lagging(200, 1.4, 0), measured("user", 3, 0, slo("itl", 90, 12)), CannotSay, "within this client's error of ±3.00 ms: its stamps may be up to 3.00 ms late"},
		{"gaps where stalls hide in reads", lagging(200, 1.4, 0), measured("kernel", 3, 0.1, slo("itl", 90, 12)), CannotSay, "within this client's error of ±3.00 ms: its stamps may be up to 3.00 ms late"},
		{"gaps by kernel stamps", lagging(200, 1.4, 0), measured("kernel", 3, 0.001, slo("itl", 90, 12)), Met, "met by 2.00 ms"},
	} {
		rep := build(t, Input{Run: c.run, Results: seq(c.rs)})
		r := rep.Summaries[0].SLO[0]
		if r.Verdict != c.want || !strings.HasSuffix(r.Reason, c.reason) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, r.Verdict, r.Reason, c.want, c.reason)
		}
		if exit := map[Verdict]int{Met: 0, Missed: 3, CannotSay: 4}[c.want]; rep.Exit != exit {
			t.Errorf("%s: exit %d, want %d", c.name, rep.Exit, exit)
		}
	}
}

// The error that stands beside a metric is its own, and is said where it is 1 %
// of the value.
func TestErrorOfEachMetric(t *testing.T) {
	run := measured("user", 3, 0, slo("ttft", 90, 500))
	s := metricsOf(lagging(200, 1.4, 0)...).Summary(run)
	for key, want := range map[[2]string][2]float64{
		{"ttft", "sched"}: {4.4, 0}, {"ttft", "write_end"}: {3, 0}, {"e2e", "sched"}: {4.4, 0}, {"tpot", ""}: {0.15, 0.15}, {"itl", ""}: {3, 3},
	} {
		if l := s.latency(key[0], key[1]); l.LessMS != want[0] || l.MoreMS != want[1] {
			t.Errorf("%v: −%v +%v ms, want %v", key, l.LessMS, l.MoreMS, want)
		}
	}
	for _, c := range []struct {
		ms, less, more float64
		want           string
	}{{51.4, 4.1, 0, " −4.10 ms"}, {0.2, 0.2, 3, " −0.200 +3.00 ms"}, {0, 0, 3, " +3.00 ms"}, {10_000, 4.1, 0, ""}, {4.28, 0.05, 0.05, " ±0.050 ms"}, {4.28, 0.01, 0.01, ""}, {4, 0, 0, ""}} {
		if got := unsureText(c.ms, c.less, c.more); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// The error beside a percentile is that of the same percentile, so what few
// requests were late is none of the median's; and none is more than the value.
func TestErrorOfEachPercentile(t *testing.T) {
	few := lagging(200, 0, 0)
	for i := range 12 {
		few[i] = answered(float64(i)*10, 4, 54, 10, 21)
	}
	short := lagging(200, 0, 0)
	for i := range short {
		short[i] = answered(float64(i)*10, 0.1, 0.3, 0.2, 21)
	}
	for _, c := range []struct {
		name       string
		rs         []replay.Result
		stamps     string
		metric     string
		clock      string
		p          float64
		less, more float64
	}{
		{"median of few late", few, "kernel", "ttft", "sched", 50, 0, 0},
		{"p95 of few late", few, "kernel", "ttft", "sched", 95, 4, 0},
		{"their E2E", few, "kernel", "e2e", "sched", 95, 4, 0},
		{"lag and reads", lagging(200, 1.4, 0), "user", "ttft", "sched", 90, 4.4, 0},
		{"below the reads", short, "user", "ttft", "sched", 50, 0.3, 0},
		{"below the reads, from sending", short, "user", "ttft", "write_end", 50, 0.2, 0},
		{"gaps below the reads", short, "user", "itl", "", 50, 0.2, 3},
		{"a time per token", short, "user", "tpot", "", 50, 0.15, 0.15},
	} {
		s := metricsOf(c.rs...).Summary(measured(c.stamps, 3, 0, slo("ttft", 90, 500)))
		if x := s.latency(c.metric, c.clock).at(c.p); x.MS == nil || !near(x.LessMS, c.less) || !near(x.MoreMS, c.more) {
			t.Errorf("%s: %+v, want −%v +%v", c.name, x, c.less, c.more)
		}
	}
	rep := build(t, Input{Run: measured("user", 3, 0, slo("ttft", 50, 500)), Results: seq(short)})
	if !strings.Contains(rep.Headline, "p50 TTFT is 0.300 ms −0.300 ms") {
		t.Error(rep.Headline)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// A client that was starved reads many events at once, and no proxy is blamed
// for it.
func TestOwnStallsAreNoProxy(t *testing.T) {
	heart := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		verdict replay.ClientVerdict
		blamed  bool
		want    string
	}{
		{replay.ClientVerdict{Verdict: replay.Clean, HeartMaxMS: heart(2)}, true, ": something between"},
		{replay.ClientVerdict{Verdict: replay.Clean, HeartMaxMS: heart(400)}, true, "or this client, which stood still for up to 400 ms"},
		{replay.ClientVerdict{Verdict: replay.ClientLimited, HeartMaxMS: heart(400)}, false, "it is not known whether anything on the way holds answers back"},
		{replay.ClientVerdict{Verdict: replay.ClientLimited, Lacking: 3, HeartMaxMS: heart(2)}, true, ": something between"},
	} {
		run := testRun()
		run.Verdict = c.verdict
		rs := lagging(20, 0.1, 0)
		for i := range 5 {
			rs[i].NReads = 2
		}
		s := metricsOf(rs...).Summary(run)
		notes := strings.Join(s.Notes, "\n")
		if !strings.Contains(notes, "5 streams of 20 arrived buffered") || !strings.Contains(notes, c.want) || strings.Contains(notes, "something between the model") != c.blamed {
			t.Errorf("%+v: %s", c.verdict, notes)
		}
	}
}
