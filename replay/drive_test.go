package replay

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"reprise/trace"
)

// fake is a sender whose calls take a given time.
type fake struct {
	take   func(Job) time.Duration
	class  Class
	dead   bool
	fail   error
	reason string
	stamp  bool                    // report write_end at dispatch
	slow   func(Job) time.Duration // from dispatch to write_end
	twice  bool                    // the bytes are handed over twice
	done   func()
}

type fakeCall struct {
	f   *fake
	job Job
}

func (f *fake) Prepare(j Job) (Call, error) { return fakeCall{f, j}, f.fail }

func (c fakeCall) Send(ctx context.Context, f *Flight) Result {
	r := Result{Class: c.f.class, Hopeless: c.f.dead, Reason: cmp.Or(c.f.reason, "nobody listens")}
	if c.f.slow != nil {
		time.Sleep(c.f.slow(c.job)) // of the virtual clock
	}
	if c.f.twice {
		f.Sent(f.Now())
	}
	if c.f.stamp {
		r.WriteEnd = some(f.Now())
		f.Sent(r.WriteEnd.V)
	}
	if c.f.take != nil {
		select {
		case <-time.After(c.f.take(c.job)):
		case <-ctx.Done():
			r.Class = Cancelled
		}
	}
	r.End = some(f.Now())
	if c.f.done != nil {
		c.f.done()
	}
	return r
}

func timed(gaps ...time.Duration) *Plan {
	p, at := &Plan{}, time.Duration(0)
	for i, g := range gaps {
		at += g
		p.Jobs = append(p.Jobs, Job{Row: int64(i), Phase: Measure, Sched: at.Nanoseconds()})
	}
	return p
}

func every(n int, gap time.Duration) *Plan {
	gaps := make([]time.Duration, n)
	for i := range gaps[1:] {
		gaps[i+1] = gap
	}
	return timed(gaps...)
}

// keep returns an observer that stores results by row, and fails on a second
// result of the same row.
func keep(t *testing.T, n int) ([]Result, func(Result) error) {
	got, seen := make([]Result, n), make([]bool, n)
	return got, func(r Result) error {
		if seen[r.Row] {
			t.Errorf("row %d has two results", r.Row)
		}
		got[r.Row], seen[r.Row] = r, true
		return nil
	}
}

func sum(t *testing.T, s RunStats) (total int64) {
	t.Helper()
	for _, o := range s.Outcomes {
		total += o.N
	}
	if total != s.Planned || len(s.Outcomes) != int(classes) {
		t.Fatalf("%d planned, outcomes %v add up to %d", s.Planned, s.Outcomes, total)
	}
	return total
}

func count(s RunStats, c Class) int64 { return s.Outcomes[c].N }

// An hour of schedule passes in virtual time: never early, and exactly at the
// instant when nothing is in the way.
func TestHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		gaps := make([]time.Duration, 7200)
		for i := range gaps {
			gaps[i] = time.Duration(rng.ExpFloat64() * 0.5e9)
		}
		p := timed(gaps...)
		got, observe := keep(t, len(gaps))
		s := &fake{stamp: true, take: func(Job) time.Duration { return 20 * time.Second }}
		stats, err := p.Run(t.Context(), s, Options{Waiter: SleepWaiter{}}, observe)
		if err != nil {
			t.Fatal(err)
		}
		sum(t, stats)
		for i, r := range got {
			if r.Dispatch.V != p.Jobs[i].Sched || r.Sched != p.Jobs[i].Sched {
				t.Fatalf("row %d planned at %d, dispatched at %d", i, p.Jobs[i].Sched, r.Dispatch.V)
			}
		}
		if stats.Verdict.Verdict != Clean || stats.WallS < 3000 {
			t.Fatalf("%+v", stats)
		}
	})
}

// lateWaiter oversleeps at one instant, as a stalled process would.
type lateWaiter struct {
	SleepWaiter
	at, by int64
}

func (w lateWaiter) Until(ctx context.Context, t Timer, ns int64) error {
	if ns == w.at {
		ns += w.by
	}
	return w.SleepWaiter.Until(ctx, t, ns)
}

// A stall of the client makes jobs late; none is dropped or re-timed, and the
// schedule is caught up at once.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := every(100, 10*time.Millisecond)
		got, observe := keep(t, 100)
		w := lateWaiter{at: p.Jobs[10].Sched, by: 200e6}
		stats, err := p.Run(t.Context(), &fake{stamp: true}, Options{Waiter: w}, observe)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range got {
			want := p.Jobs[i].Sched
			if i >= 10 {
				want = max(want, p.Jobs[10].Sched+w.by)
			}
			if r.Sched != p.Jobs[i].Sched || r.Dispatch.V != want {
				t.Fatalf("row %d: sched %d, dispatch %d, want %d", i, r.Sched, r.Dispatch.V, want)
			}
		}
		if v := stats.Verdict; v.Verdict != ClientLimited || v.LagMaxMS != 200 || v.Late != 20 {
			t.Fatalf("verdict %+v", v)
		}
	})
}

// A server that stalls for 2 s shows in latency from sched and not in dispatch.
func TestServerStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := every(1000, 10*time.Millisecond)
		s := &fake{stamp: true, take: func(j Job) time.Duration {
			free := int64(5e9 + 2e9)
			if j.Sched > 5e9 && j.Sched < free {
				return time.Duration(free - j.Sched)
			}
			return time.Millisecond
		}}
		var worst int64
		_, err := p.Run(t.Context(), s, Options{Waiter: SleepWaiter{}}, func(r Result) error {
			if r.Dispatch.V != r.Sched {
				t.Errorf("row %d let go %d ns late", r.Row, r.Dispatch.V-r.Sched)
			}
			worst = max(worst, r.End.V-r.Sched)
			return nil
		})
		if err != nil || worst != 1990e6 {
			t.Fatalf("worst latency %d, %v", worst, err)
		}
	})
}

// 5,000 pending requests hold nobody back.
func TestNoCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := every(5001, time.Millisecond)
		var now, most atomic.Int64
		s := &fake{stamp: true, take: func(Job) time.Duration {
			most.Store(max(most.Load(), now.Add(1)))
			return time.Minute
		}}
		stats, err := p.Run(t.Context(), s, Options{Waiter: SleepWaiter{}}, func(r Result) error {
			if r.Dispatch.V != r.Sched {
				t.Errorf("row %d waited %d ns", r.Row, r.Dispatch.V-r.Sched)
			}
			return nil
		})
		if err != nil || most.Load() != 5001 || count(stats, OK) != 5001 {
			t.Fatalf("at most %d in flight, %v", most.Load(), err)
		}
	})
}

// An interrupt leaves the rest unsent, lets the quick ones land within the
// grace and cancels the slow ones; the account still adds up.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second+time.Millisecond)
		defer cancel()
		s := &fake{stamp: true, take: func(j Job) time.Duration { return time.Duration(1+j.Row%2*99) * time.Second }}
		draining := int64(-1)
		got, observe := keep(t, 100)
		stats, err := every(100, 100*time.Millisecond).Run(ctx, s, Options{Waiter: SleepWaiter{}, Grace: 10 * time.Second, Drain: func(n int64) { draining = n }}, observe)
		if !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
		if draining != 30 { // the 25 slow ones, and the quick ones of the last second
			t.Fatalf("%d requests were in flight at the interrupt", draining)
		}
		sum(t, stats)
		if count(stats, Unsent) != 49 || count(stats, OK) != 26 || count(stats, Cancelled) != 25 {
			t.Fatalf("%v", stats.Outcomes)
		}
		if got[99].Class != Unsent || got[99].Dispatch.OK || got[99].Sched != 9.9e9 {
			t.Fatalf("%+v", got[99])
		}
	})
}

// An interrupt that finds all sent, and lets all of it land, ended nothing: the
// run is whole.
func TestInterruptOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		s := &fake{stamp: true, take: func(Job) time.Duration { return 3 * time.Second }}
		_, observe := keep(t, 10)
		stats, err := every(10, 100*time.Millisecond).Run(ctx, s, Options{Waiter: SleepWaiter{}, Grace: 10 * time.Second}, observe)
		if err != nil || count(stats, OK) != 10 {
			t.Fatalf("%v %v", stats.Outcomes, err)
		}
	})
}

// What cannot be prepared, or kept, ends the run with the account whole.
func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("no words")
		stats, err := every(50, time.Second).Run(t.Context(), &fake{fail: broken}, Options{Waiter: SleepWaiter{}}, func(Result) error { return nil })
		if !errors.Is(err, broken) || sum(t, stats) != count(stats, Unsent) {
			t.Fatalf("%v %v", err, stats.Outcomes)
		}
		full := errors.New("disk full")
		stats, err = every(50, time.Second).Run(t.Context(), &fake{}, Options{Waiter: SleepWaiter{}}, func(Result) error { return full })
		if !errors.Is(err, full) || count(stats, OK) != 1 {
			t.Fatalf("%v %v", err, stats.Outcomes)
		}
		sum(t, stats)
	})
}

// Jobs are prepared in bounded number ahead of their turn.
func TestAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := every(500, time.Second)
		for i := range p.Jobs {
			p.Jobs[i].Request.Input = some[int32](100)
		}
		s := &counting{}
		most := int64(0)
		_, err := p.Run(t.Context(), s, Options{Waiter: SleepWaiter{}, Ahead: 64, Tokens: 1000}, func(r Result) error {
			most = max(most, s.n.Load()-r.Row)
			return nil
		})
		// 10 jobs of 100 tokens ahead, and the one that was let go
		if err != nil || s.n.Load() != 500 || most > 11 {
			t.Fatalf("%d ahead, %v", most, err)
		}
	})
}

type counting struct{ n atomic.Int64 }

func (c *counting) Prepare(j Job) (Call, error) {
	c.n.Add(1)
	return fakeCall{&fake{}, j}, nil
}

// Health rows come once a second of the run's clock and count what was sent.
func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rows []HealthRow
		opts := Options{Waiter: SleepWaiter{}, Health: func(h HealthRow) { rows = append(rows, h) }}
		// The kernel's timer stands outside virtual time.
		opts.Beat = SleepWaiter{}
		s := &fake{stamp: true, take: func(Job) time.Duration { return 1500 * time.Millisecond }}
		p := every(40, 100*time.Millisecond)
		if _, err := p.Run(t.Context(), s, opts, func(Result) error { return nil }); err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for i, r := range rows[:len(rows)-1] {
			if r.TNS != int64(i+1)*1e9 || r.KernelP99US != -1 || r.HeartP99US != 0 || r.LagMaxUS != 0 {
				t.Fatalf("row %d: %+v", i, r)
			}
			n += r.Sent
		}
		if n+rows[len(rows)-1].Sent != 40 || rows[2].InFlight < 14 || rows[2].InFlight > 16 {
			t.Fatalf("%d sent; %+v", n, rows)
		}
	})
}

func TestPlan(t *testing.T) {
	tr := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	if _, err := NewPlan(tr); err == nil || !strings.Contains(err.Error(), "no requests") {
		t.Fatal(err)
	}
	tr.Requests = []trace.Request{{ID: 0, N: 1}}
	if _, err := NewPlan(tr); err == nil || !strings.Contains(err.Error(), "reprise synth") {
		t.Fatal(err)
	}
	tr.Requests = []trace.Request{
		{ID: 0, T: some[int64](5), Input: some[int32](40), Blocks: []int32{0, 1, 2}},
		{ID: 1, T: some[int64](7), Input: some[int32](20), Blocks: []int32{0, 3}},
		{ID: 2, T: some[int64](7), Input: some[int32](40), Blocks: []int32{0, 1, 2}},
	}
	p, err := NewPlan(tr)
	if err != nil || p.Jobs[1].Sched != 7000 || p.Length() != 7*time.Microsecond {
		t.Fatalf("%+v %v", p, err)
	}
	// 0 + 16 + 40 of 100 tokens
	if got := ExpectedHitRate(tr); got != 0.56 {
		t.Fatalf("expected hit rate %g", got)
	}
	p.WarmUp(6 * time.Microsecond)
	if p.Jobs[0].Phase != Warmup || p.Jobs[1].Phase != Measure {
		t.Fatal("warm-up is not the first 6 µs")
	}
}

// The platform's waiter is never early, and a cancel ends the wait.
func TestWaiter(t *testing.T) {
	w := NewWaiter()
	defer w.Close()
	timer := NewTimer(time.Now())
	for i := range int64(50) {
		at := i * 200_000
		if err := w.Until(t.Context(), timer, at); err != nil {
			t.Fatal(err)
		}
		if now := timer.Now(); now < at {
			t.Fatalf("woke at %d, before %d", now, at)
		}
	}
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if err := w.Until(ctx, timer, timer.Now()+3600e9); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		lags []int64
		want string
	}{
		{nil, NoVerdict},
		{[]int64{1_000_000}, Clean},
		{[]int64{1_000_001}, Usable},
		{[]int64{5_000_000}, Usable},
		{[]int64{5_000_001}, ClientLimited},
	} {
		var l Lags
		for _, lag := range c.lags {
			l.Add(&Result{Phase: Measure, Dispatch: some[int64](0), WriteEnd: some(lag)})
		}
		l.Add(&Result{Phase: Warmup, Dispatch: some[int64](0), WriteEnd: some[int64](1e9)})
		l.Add(&Result{Phase: Measure, Dispatch: some[int64](1e9)}) // never written
		if got := l.Verdict(); got.Verdict != c.want || !strings.Contains(got.Reason, "1 were let go but never written") {
			t.Errorf("%v: %+v, want %s", c.lags, got, c.want)
		}
	}
}

func TestMachine(t *testing.T) {
	if s, all := parseSteal("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 0\n"); s != 8 || all != 36 {
		t.Fatalf("steal %d of %d", s, all)
	}
	if s, _ := parseSteal("intr 1 2"); s != -1 {
		t.Fatalf("steal %d", s)
	}
	if n := parseThrottled("usage_usec 1\nnr_periods 2\nnr_throttled 3\n"); n != 3 {
		t.Fatalf("throttled %d", n)
	}
	if n := parseThrottled("usage_usec 1\n"); n != -1 {
		t.Fatalf("throttled %d", n)
	}
}

// Requests without an answer in the log ask for the median of the others, and
// the plan says so.
func TestPlanSettlesOutputs(t *testing.T) {
	tr := &trace.Trace{Requests: make([]trace.Request, 5)}
	for i, out := range []int32{10, 0, 400, 30, 20} {
		tr.Requests[i] = trace.Request{ID: int64(i), T: some(int64(i)), Max: some(int32(4000))}
		if out > 0 {
			tr.Requests[i].Output = some(out)
		}
	}
	p, err := NewPlan(tr)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Jobs[1].Request.Output; !got.OK || got.V != 20 {
		t.Errorf("the request without an answer asks for %+v, want 20", got)
	}
	if got := p.Jobs[2].Request.Output.V; got != 400 {
		t.Errorf("a known answer became %d", got)
	}
	if len(p.Notes) != 1 || !strings.HasPrefix(p.Notes[0], "1 of 5 requests") {
		t.Errorf("notes %q", p.Notes)
	}
	if tr.Requests[1].Output.OK {
		t.Error("the trace was changed")
	}
}
