package selftest

import (
	"math"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// way is a path and a client: delays in ns, and by how much the far clock is
// ahead.
type way struct {
	offset, lag, up, down int64
	held                  bool // all events come with the last
	jitter                func(i int) int64
}

const (
	zero = 1_800_000_000_000_000_000
	ttft = 50e6
	itl  = 10e6
)

// result is an answer of n events over a way.
func (w way) result(i int64, n int) *replay.Result {
	sched := i * 20e6
	wrote := sched + w.lag
	arrived := zero + wrote + w.up // by our clock
	r := &replay.Result{Phase: replay.Measure, Sched: sched, Dispatch: trace.Some(sched), WriteEnd: trace.Some(wrote), NEvents: int32(n),
		Far: &replay.Far{Arrived: arrived + w.offset}}
	stamp := func(k int) int64 {
		if w.held {
			k = n - 1
		}
		at := arrived + ttft + int64(k)*itl + w.down - zero
		if w.jitter != nil {
			at += w.jitter(k)
		}
		return at
	}
	for k := range n {
		r.Far.Sent = append(r.Far.Sent, arrived+ttft+int64(k)*itl+w.offset)
		r.Far.Read = append(r.Far.Read, 20_000)
		if k > 0 {
			r.Gaps = append(r.Gaps, int32((stamp(k)-stamp(k-1))/1000))
		}
	}
	r.FirstContent, r.LastContent, r.End = trace.Some(stamp(0)), trace.Some(stamp(n-1)), trace.Some(stamp(n-1))
	return r
}

func (w way) report(with func(*replay.Result)) *Report {
	t := New(zero)
	for i := range int64(200) {
		r := w.result(i, 20)
		if with != nil {
			with(r)
		}
		t.Add(r)
	}
	heart, kernel := 0.1, 0.05
	return t.Report(replay.ClientVerdict{Verdict: replay.Clean, HeartP99MS: &heart, KernelP99MS: &kernel, Reason: "all well"},
		&replay.Path{Handshakes: 5, HandshakeMS: float64(w.rtt()) / 1e6}, "kernel")
}

func (w way) rtt() int64 { return 200_000 }

// What is known beforehand of the clocks, the delays and the errors comes out.
func TestReport(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-3 }
	for name, offset := range map[string]int64{"one clock": 0, "an hour ahead": 3600e9, "an hour behind": -3600e9} {
		r := way{offset: offset, lag: 50_000, up: 100_000, down: 100_000}.report(nil)
		if r.Verdict != replay.Clean || !near(r.OffsetMS, float64(offset)/1e6) || !near(r.OffsetErrorMS, 0.1) || r.Early != 0 {
			t.Errorf("%s: %+v", name, r)
		}
		if !near(r.TTFT.P99, 0.2) || r.Excess.Max != 0 || r.Gaps.Max != 0 || !near(r.Down.P50, 0.1) || !near(r.Far.P50, 0.15) || !near(r.Lag.P50, 0.05) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	// One way slower than the other: the offset is off by half the difference.
	r := way{up: 3e6, down: 1e6}.report(nil)
	if !near(r.OffsetMS, 1) || r.OffsetErrorMS < 1 {
		t.Errorf("uneven: %+v", r)
	}
}

func TestVerdicts(t *testing.T) {
	base := way{lag: 50_000, up: 100_000, down: 100_000}
	slow, held, shaky := base, base, base
	slow.up, slow.down = 10e6, 10e6
	held.held = true
	shaky.jitter = func(k int) int64 { return int64(k%2) * 3e6 }
	for name, c := range map[string]struct {
		way  way
		with func(*replay.Result)
		want string
		why  string
	}{
		"well":                   {base, nil, replay.Clean, ""},
		"a slow proxy":           {slow, nil, replay.ClientLimited, "the path: TTFT from sending is p99 19.8 ms longer"},
		"a buffering proxy":      {held, nil, replay.ClientLimited, "the path: 100 % of the events came together with the one before"},
		"jitter":                 {shaky, nil, replay.Usable, "the path: gaps are p99 3 ms off"},
		"early":                  {base, func(r *replay.Result) { r.WriteEnd.V = r.Sched - 1 }, replay.ClientLimited, "200 requests left before their instant"},
		"failures":               {base, func(r *replay.Result) { r.Class = replay.Truncated }, replay.ClientLimited, "200 of 200 requests were not answered"},
		"no stamps":              {base, func(r *replay.Result) { r.Far = nil }, replay.ClientLimited, "200 of 200 answers have no stamps"},
		"events lost on the way": {base, func(r *replay.Result) { r.Far.Sent = r.Far.Sent[1:] }, replay.ClientLimited, "have no stamps"},
	} {
		r := c.way.report(c.with)
		if why := strings.Join(r.Why, "; "); r.Verdict != c.want || !strings.Contains(why, c.why) || (c.why == "") != (why == "") {
			t.Errorf("%s: %s, %q", name, r.Verdict, why)
		}
		if text := strings.Join(r.Lines(), "\n"); !strings.Contains(text, "Verdict     ") || strings.Contains(text, "NaN") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	// A client that stalls shares the blame.
	stall := 12.0
	r := held.report(nil)
	r.Client.HeartP99MS, r.Why = &stall, nil
	if r.judge(); !strings.Contains(r.Why[0], "the client or the path") {
		t.Error(r.Why)
	}
}
