package replay

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// counted is a histogram of n equal spans and then of others.
func counted(n int, ns int64, more ...int64) SpanCount {
	var s Spans
	for range n {
		s.Add(ns)
	}
	for _, v := range more {
		s.Add(v)
	}
	return s.Count()
}

// streamed is a measured answer that left on time.
func streamed(events, reads int32) *Result {
	return &Result{Phase: Measure, Dispatch: some[int64](0), WriteEnd: some[int64](100_000), NEvents: events, NReads: reads}
}

func TestJudge(t *testing.T) {
	quiet, busy := counted(1000, 100_000), counted(980, 100_000, many(20, 40e6)...)
	for _, c := range []struct {
		name          string
		events, reads int32
		signs         Signs
		want, reason  string
	}{
		{"all well", 100, 100, Signs{Delays: quiet, Beats: quiet}, Clean, "after the kernel had them: at most 1 ms"},
		{"reads late", 100, 100, Signs{Delays: counted(980, 1000, many(20, 3e6)...), Beats: quiet}, Usable, "bytes read p99 3"},
		{"reads very late", 100, 100, Signs{Delays: busy, Beats: quiet}, ClientLimited, "bytes read p99 4"},
		{"stalls hide in one read", 100, 90, Signs{Delays: quiet, Beats: busy}, ClientLimited, "10 % of the events came in a read with the one before"},
		{"few stalls hide", 1000, 994, Signs{Delays: quiet, Beats: busy}, ClientLimited, "0.6 % of the events"},
		{"too few to matter", 1000, 996, Signs{Delays: quiet, Beats: busy}, Clean, "at most 1 ms"},
		{"the server writes two at once", 100, 50, Signs{Delays: quiet, Beats: busy, Alone: 0.5}, Clean, "at most 1 ms"},
		{"two at once, and stalls", 100, 40, Signs{Delays: quiet, Beats: busy, Alone: 0.5}, ClientLimited, "(50 % of an answer alone)"},
		{"a proxy bundles, the client is idle", 100, 20, Signs{Delays: quiet, Beats: quiet}, Clean, "heartbeat p99 0.1"},
		{"a stall where nothing came", 100, 100, Signs{Delays: quiet, Beats: busy}, Clean, "at most 1 ms"},
		{"no kernel stamps", 100, 100, Signs{Beats: busy}, ClientLimited, "there are no kernel stamps"},
		{"the machine slept", 100, 100, Signs{Delays: quiet, Beats: quiet, Slept: 3e9}, ClientLimited, "asleep for 3 s"},
		{"it slept for less than would matter", 100, 100, Signs{Delays: quiet, Beats: quiet, Slept: 1e6}, Clean, "at most 1 ms"},
		{"no kernel stamps, all well", 100, 100, Signs{Beats: quiet}, Clean, "it stands for the delay of reads"},
	} {
		var l Lags
		l.Add(streamed(c.events, c.reads))
		v := l.Judge(c.signs)
		if v.Verdict != c.want || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("%s: %s, %s; want %s with %q", c.name, v.Verdict, v.Reason, c.want, c.reason)
		}
	}
}

func many(n int, ns int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = ns
	}
	return out
}

// A stall counts as all the beats that fell into it: one of 30 ms in a second is
// late by 30, 29 … ms in 3 % of its milliseconds, and so is the 99th percentile.
func TestBeatCountsStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Second+time.Millisecond/2)
		defer stop()
		var late Spans
		most := int64(0)
		beat(ctx, NewTimer(time.Now()), lateWaiter{at: 500e6, by: 30e6}, func(ns int64) {
			late.Add(ns)
			most = max(most, ns)
		})
		c := late.Count()
		if n := c.N(); n < 999 || n > 1002 || most != 30e6 {
			t.Fatalf("%d beats, the worst %d ns late", n, most)
		}
		if p := c.Quantile(0.99); p < 19e6 || p > 23e6 || c.Quantile(0.9) != 0 {
			t.Fatalf("p99 %d, p90 %d", p, c.Quantile(0.9))
		}
	})
}

// shifty is a sender with stamps whose answers bring several events in a read
// where the process stalled.
type shifty struct {
	fake
	delays Spans
	shared int32
}

func (s *shifty) Stamps() string    { return "kernel" }
func (s *shifty) Delays() SpanCount { return s.delays.Count() }
func (s *shifty) Resent() int64     { return 7 }

func (s *shifty) Prepare(j Job) (Call, error) { return shiftyCall{s, j}, nil }

type shiftyCall struct {
	s   *shifty
	job Job
}

func (c shiftyCall) Send(ctx context.Context, f *Flight) Result {
	r := fakeCall{&c.s.fake, c.job}.Send(ctx, f)
	r.NEvents, r.NReads = 100, 100-c.s.shared
	c.s.delays.Add(20_000)
	return r
}

// What hides from the kernel's stamps does not hide from the verdict of a run:
// its requests leave on time, its reads are fast, and it stalls for 50 ms of
// every 250 between the two.
func TestRunSeesStalls(t *testing.T) {
	for shared, want := range map[int32]string{0: Clean, 30: ClientLimited} {
		synctest.Test(t, func(t *testing.T) {
			s := &shifty{fake: fake{stamp: true, take: func(Job) time.Duration { return time.Second }}, shared: shared}
			s.delays.Add(500e6) // before the run, of a preflight
			_, observe := keep(t, 40)
			stats, err := every(40, 100*time.Millisecond).Run(t.Context(), s, Options{Waiter: SleepWaiter{}, Beat: stalling{}, Health: func(HealthRow) {}}, observe)
			if err != nil {
				t.Fatal(err)
			}
			v := stats.Verdict
			if v.Verdict != want || *v.KernelP99MS > 0.1 || *v.HeartP99MS < 40 || *v.HeartMaxMS < 49 || *v.Shared != float64(shared)/100 {
				t.Errorf("%d events shared: %+v", shared, v)
			}
		})
	}
}

// stalling is a waiter that oversleeps by 50 ms four times a second.
type stalling struct{ SleepWaiter }

func (w stalling) Until(ctx context.Context, t Timer, ns int64) error {
	if ns%250e6 < 1e6 {
		ns += 50e6
	}
	return w.SleepWaiter.Until(ctx, t, ns)
}

// TestVerdictRounds: a lag is given to the nearest microsecond, as a report does.
func TestVerdictRounds(t *testing.T) {
	for ns, want := range map[int64]float64{207_499: 0.207, 207_500: 0.208, 207_900: 0.208, 0: 0, -600: -0.001} {
		if got := ms(ns); got != want {
			t.Errorf("%d ns are %v ms, want %v", ns, got, want)
		}
	}
}

// Reasons are written in plain figures, and what is above a bound does not read
// as the bound.
func TestReasonsInPlainFigures(t *testing.T) {
	for _, c := range []struct {
		lag  float64
		want string
	}{{1870, "send lag p99 1870 ms"}, {5.004, "send lag p99 5.004 ms"}, {12.14, "send lag p99 12.1 ms"}, {0.141, "send lag p99 0.141 ms: at most 1 ms"}} {
		var l Lags
		l.Add(&Result{Phase: Measure, Dispatch: some(int64(0)), WriteEnd: some(int64(c.lag * 1e6))})
		if v := l.Verdict(); !strings.Contains(v.Reason, c.want) {
			t.Errorf("%v ms: %q", c.lag, v.Reason)
		}
	}
}
