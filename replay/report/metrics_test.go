package report

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/trace/spec"
)

const msNS = int64(1e6)

func some64(v int64) trace.Opt[int64] { return trace.Some(v) }
func some32(v int32) trace.Opt[int32] { return trace.Some(v) }

// answered is a request planned at sched ms and sent lag ms later, whose first
// content came ttft ms after the plan and whose n tokens were gap ms apart.
func answered(sched, lag, ttft, gap float64, n int32) replay.Result {
	at := func(v float64) trace.Opt[int64] { return some64(int64(v * 1e6)) }
	last := sched + ttft + gap*float64(n-1)
	r := replay.Result{Phase: replay.Measure, Class: replay.OK, Sched: int64(sched * 1e6), Dispatch: at(sched), ConnReady: at(sched),
		WriteEnd: at(sched + lag), FirstByte: at(sched + ttft), FirstEvent: at(sched + ttft), FirstContent: at(sched + ttft), FirstAnswer: at(sched + ttft),
		LastContent: at(last), End: at(last + 1), InAsked: some32(100), InUsage: some32(100), OutAsked: some32(n), OutUsage: some32(n), OutLocal: some32(n),
		Cached: some32(25), NEvents: n, NReads: n}
	for range n - 1 {
		r.Gaps = append(r.Gaps, int32(gap*1000))
	}
	return r
}

func failed(sched float64, c replay.Class) replay.Result {
	at := int64(sched * 1e6)
	return replay.Result{Phase: replay.Measure, Class: c, Sched: at, Dispatch: some64(at), WriteEnd: some64(at), End: some64(at + msNS)}
}

func testRun(slo ...spec.SLO) *replay.Run {
	return &replay.Run{Kind: replay.RunKind, Version: 1, Tool: trace.Tool{Name: "reprise", Version: "1.2.3", Commit: "abcdef0123456789abcdef"},
		Status: replay.Complete, StartedAt: "2026-03-02T09:00:00Z", Trace: replay.Input{Name: "peak.trace.parquet", SHA256: "aa11bb22cc33dd44ee55ff66"},
		Spec:     &replay.Input{Name: "spec.json", SHA256: "0123456789abcdef0123"},
		Endpoint: replay.Endpoint{URL: "http://127.0.0.1:8000/v1", API: "chat", Model: "llama-3-8b", Server: "vllm 0.11", Streaming: true, IgnoreEOS: true, Template: 12},
		Mode:     "open_loop", Region: "eu-west-1", SLO: slo, Clock: replay.Clock{Schedule: "absolute", Wait: "timerfd", Stamps: "user"},
		Environment: replay.Environment{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26.8", Procs: 2},
		Cache:       replay.CacheMode{Mode: "workload", ExpectedHitRate: 0.25},
		Verdict:     replay.ClientVerdict{Verdict: replay.Clean, Reason: "p99 send lag 0.200 ms"}}
}

func slo(metric string, p, limit float64) spec.SLO {
	return spec.SLO{Metric: metric, Percentile: spec.Num(p), ThresholdMS: spec.Num(limit), MeasuredAt: "client"}
}

func metricsOf(rs ...replay.Result) *Metrics {
	m := new(Metrics)
	for _, r := range rs {
		m.Add(r)
	}
	return m
}

// ramp has n answers, ten a second, with TTFT 1, 2, … n ms.
func ramp(n int) []replay.Result {
	var out []replay.Result
	for i := range n {
		out = append(out, answered(float64(i)*100, 0.25, float64(i+1), 10, 5))
	}
	return out
}

func TestRankIsType1(t *testing.T) {
	// Known answers: R's quantile(type = 1) takes the ceil(np)-th value.
	for _, c := range []struct {
		p    float64
		n, k int64
	}{{50, 1, 1}, {50, 2, 1}, {50, 3, 2}, {50, 4, 2}, {95, 20, 19}, {95, 21, 20}, {95, 100, 95}, {99, 100, 99}, {99, 101, 100}, {99.9, 1000, 999},
		{29, 100, 29}, {57, 100, 57}, {58, 100, 58}, {0, 10, 1}, {100, 10, 10}, {99.9, 10_000_000_000, 9_990_000_000}} {
		if k := rank(c.p, c.n); k != c.k {
			t.Errorf("rank(p%v of %d) = %d, want %d", c.p, c.n, k, c.k)
		}
	}
}

func TestPercentilesNeedTenBeyond(t *testing.T) {
	for _, c := range []struct {
		p float64
		n int64
	}{{50, 20}, {90, 100}, {95, 200}, {99, 1000}, {99.9, 10000}} {
		if got := needed(c.p); got != c.n {
			t.Errorf("p%v needs %d requests, want %d", c.p, got, c.n)
		}
		if supported(c.p, c.n-1) || !supported(c.p, c.n) {
			t.Errorf("p%v is not supported from exactly %d on", c.p, c.n)
		}
	}
}

func TestKnownLatencies(t *testing.T) {
	s := metricsOf(ramp(1000)...).Summary(testRun())
	for _, c := range []struct {
		metric, clock string
		p, want       float64
	}{
		{"ttft", "sched", 50, 500}, {"ttft", "sched", 90, 900}, {"ttft", "sched", 95, 950}, {"ttft", "sched", 99, 990},
		{"ttft", "write_end", 50, 499.75}, {"tpot", "", 99, 10}, {"itl", "", 50, 10}, {"e2e", "sched", 95, 991}, {"e2e", "write_end", 95, 990.75},
	} {
		v := s.latency(c.metric, c.clock).percentile(c.p)
		if v == nil || *v != c.want {
			t.Errorf("p%v %s %s = %v, want %v", c.p, c.metric, c.clock, msOr(v), c.want)
		}
	}
	if n := s.latency("itl", "").N; n != 4000 {
		t.Errorf("ITL has %d gaps, want 4000", n)
	}
	if got := rateText(s.Load.OfferedPerS); got != "10.0" {
		t.Errorf("offered %s, want 10.0", got)
	}
	if got := msOr(s.Client.LagP99MS); got != "0.250" {
		t.Errorf("p99 lag %s, want 0.250", got)
	}
	if got := s.latency("ttft", "sched").percentile(99.9); got != nil {
		t.Errorf("p99.9 of 1000 requests is given as %v", *got)
	}
}

func TestOnlyAnsweredMeasuredRequestsHaveLatency(t *testing.T) {
	rs := ramp(40)
	warm := answered(0, 0, 9999, 10, 5)
	warm.Phase = replay.Warmup
	late := answered(0, 0, 9999, 10, 5)
	late.Class = replay.Truncated
	m := metricsOf(append(rs, warm, late, failed(10, replay.HTTP429), failed(20, replay.Unsent))...)
	s := m.Summary(testRun())
	if l := s.latency("ttft", "sched"); l.N != 40 || *l.MaxMS != 40 {
		t.Errorf("TTFT is over %d requests up to %v ms, want 40 up to 40", l.N, *l.MaxMS)
	}
	if s.Load.Planned != 43 || s.Load.OK != 40 || s.Load.Failed != 3 || s.Load.RateLimited != 1 || s.Load.Warmup != 1 {
		t.Errorf("load is %+v", s.Load)
	}
	var sum int64
	for _, o := range s.Outcomes {
		sum += o.N
	}
	if sum != s.Load.Planned || len(s.Outcomes) != len(replay.Classes()) {
		t.Errorf("outcomes add up to %d of %d, %d classes", sum, s.Load.Planned, len(s.Outcomes))
	}
}

func TestTPOTIsByTokensNotEvents(t *testing.T) {
	r := answered(0, 0, 100, 40, 6) // last content 200 ms after the first
	r.OutUsage = some32(21)         // several tokens an event
	r.OutAsked, r.OutLocal = some32(21), some32(21)
	if got := newSample(&r).tpot; got != 10*msNS {
		t.Errorf("TPOT by usage is %d ns, want 10 ms", got)
	}
	r.OutUsage, r.OutLocal = trace.Opt[int32]{}, some32(11)
	if got := newSample(&r).tpot; got != 20*msNS {
		t.Errorf("TPOT by local count is %d ns, want 20 ms", got)
	}
	s := metricsOf(r).Summary(testRun())
	if s.Tokens.TPOTByLocal != 1 {
		t.Error("TPOT by local count is not flagged")
	}
	r.OutLocal = trace.Opt[int32]{}
	if got := newSample(&r).tpot; got != absent {
		t.Errorf("TPOT without any count is %d ns, want none", got)
	}
}

func TestBufferedStreams(t *testing.T) {
	stream := func(reads ...int) replay.Result { // events in each read
		r := answered(0, 0, 1, 1, 2)
		r.Gaps = nil
		r.NEvents = 0
		for i, n := range reads {
			for j := range n {
				if i+j > 0 {
					r.Gaps = append(r.Gaps, map[bool]int32{true: 5000, false: 0}[j == 0])
				}
				r.NEvents++
			}
		}
		r.NReads = int32(len(reads))
		return r
	}
	for _, c := range []struct {
		reads []int
		want  bool
	}{
		{[]int{100}, true}, {[]int{40, 30, 30}, true}, {[]int{30, 30, 30, 5, 5}, true}, {[]int{30, 30, 29, 6, 5}, false},
		{[]int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, false}, {[]int{3}, false},
	} {
		r := stream(c.reads...)
		if got := buffered(&r); got != c.want {
			t.Errorf("reads of %v events: buffered = %v, want %v", c.reads, got, c.want)
		}
	}
}

// random is a mixed set of results with every class, phase and absence.
func random(rng *rand.Rand, n int) []replay.Result {
	var out []replay.Result
	for range n {
		sched := rng.Float64() * 60_000
		r := answered(sched, rng.ExpFloat64()*0.3, 20+rng.ExpFloat64()*300, rng.ExpFloat64()*20, 1+rng.Int32N(30))
		for i := range r.Gaps {
			r.Gaps[i] = int32(rng.ExpFloat64() * 20_000)
			if rng.IntN(200) == 0 {
				r.Gaps[i] = 1_000_000 + rng.Int32N(9_000_000)
			}
		}
		r.Repeat = rng.Int32N(2)
		switch rng.IntN(10) {
		case 0:
			c := replay.Classes()
			f := failed(sched, c[1+rng.IntN(len(c)-1)])
			f.RetryAfterMS, f.Repeat = some64(rng.Int64N(5000)), r.Repeat
			r = f
		case 1:
			r.OutUsage = trace.Opt[int32]{}
		case 2:
			r.Phase = replay.Phase(rng.IntN(3))
		}
		out = append(out, r)
	}
	return out
}

func TestMergeOfAnySplitEqualsWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	run := testRun(slo("ttft", 95, 500), slo("tpot", 90, 30), slo("itl", 99, 100), slo("e2e", 50, 900))
	for range 20 {
		rs := random(rng, 300+rng.IntN(300))
		whole := metricsOf(rs...).Summary(run)
		rng.Shuffle(len(rs), func(i, j int) { rs[i], rs[j] = rs[j], rs[i] })
		parts := make([]*Metrics, 1+rng.IntN(6))
		for i := range parts {
			parts[i] = new(Metrics)
		}
		for _, r := range rs {
			parts[rng.IntN(len(parts))].Add(r)
		}
		total := new(Metrics)
		for _, p := range parts {
			total.Merge(p)
		}
		if got := total.Summary(run); !reflect.DeepEqual(got, whole) {
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(whole)
			t.Fatalf("%d parts give\n%s\nwhole gives\n%s", len(parts), a, b)
		}
	}
}

func TestCountsAgreeWithSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		var c counts
		var v sorted
		for range 1 + rng.IntN(500) {
			g := int32(rng.ExpFloat64() * 50_000)
			if rng.IntN(20) == 0 {
				g = rng.Int32N(2_000_000_000)
			}
			c.add(g, 1)
			v = append(v, int64(g))
		}
		sortedOf(v)
		for _, p := range []float64{0, 1, 50, 90, 99, 99.9, 100} {
			a, _ := at(&c, p)
			b, _ := at(v, p)
			if a != b {
				t.Fatalf("p%v of %d gaps: %d by count, %d by sorting", p, len(v), a, b)
			}
		}
		limit := v[rng.IntN(len(v))]
		if c.within(limit) != v.within(limit) {
			t.Fatalf("within %d: %d by count, %d by sorting", limit, c.within(limit), v.within(limit))
		}
	}
}

func TestBinsAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, stretch := range []int64{1, 7, 300, 4000} {
		rs := random(rng, 500)
		for i := range rs {
			r := &rs[i]
			shift := r.Sched * (stretch - 1)
			r.Sched += shift
			for _, p := range []*trace.Opt[int64]{&r.Dispatch, &r.WriteEnd, &r.FirstContent, &r.FirstAnswer, &r.LastContent, &r.End} {
				if p.OK {
					p.V += shift
				}
			}
		}
		s := metricsOf(rs...).Summary(testRun())
		if len(s.Bins) > maxBins {
			t.Errorf("%d bins, at most %d wanted", len(s.Bins), maxBins)
		}
		var offered, done int64
		for _, b := range s.Bins {
			offered += b.Offered
			done += b.Completed + b.Failed
		}
		if offered != s.Load.Planned || done != s.Load.Planned {
			t.Errorf("bins hold %d offered and %d ended of %d", offered, done, s.Load.Planned)
		}
		if last := s.Bins[len(s.Bins)-1].InFlight; last != 0 {
			t.Errorf("%d in flight at the end", last)
		}
	}
}

func TestPeakInFlightIsHalfOpen(t *testing.T) {
	a, b := answered(0, 0, 5, 1, 5), answered(10, 0, 5, 1, 5) // a ends at 10 ms, where b is sent
	if got := inFlight(metricsOf(a, b).samples).peak(); got != 1 {
		t.Errorf("peak is %d, want 1: one ends where the other begins", got)
	}
	c := answered(9, 0, 5, 1, 5)
	if got := inFlight(metricsOf(a, b, c).samples).peak(); got != 2 {
		t.Errorf("peak is %d, want 2", got)
	}
}

func TestCDFRisesToOne(t *testing.T) {
	s := metricsOf(ramp(777)...).Summary(testRun())
	for _, c := range s.CDFs {
		if !slices.IsSortedFunc(c.Points, func(a, b CDFPoint) int {
			if a.MS > b.MS || a.Share >= b.Share {
				return 1
			}
			return -1
		}) {
			t.Errorf("%s %s does not rise", c.Metric, c.Clock)
		}
		if last := c.Points[len(c.Points)-1]; last.Share != 1 {
			t.Errorf("%s ends at %v", c.Metric, last)
		}
	}
}

func BenchmarkSummary1M(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	proto := random(rng, 1000)
	run := testRun(slo("ttft", 95, 500), slo("tpot", 90, 30), slo("e2e", 99, 5000))
	for b.Loop() {
		m := new(Metrics)
		for i := range 1_000_000 {
			r := proto[i%1000]
			r.Sched += int64(i) * 1_000_000
			m.Add(r)
		}
		m.Summary(run)
	}
}
