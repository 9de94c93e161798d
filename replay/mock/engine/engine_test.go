package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// sim drives an engine in virtual time and keeps what came out.
type sim struct {
	t       testing.TB
	engine  *Engine
	now     time.Duration
	arrived map[ID]time.Duration
	first   map[ID]time.Duration
	done    map[ID]Event
	events  []Event
	buf     []Event
	area    float64 // integral of requests in the engine over time, request-seconds
}

func newSim(t testing.TB, law Law, seed uint64) *sim {
	t.Helper()
	e, err := New(law, seed)
	if err != nil {
		t.Fatal(err)
	}
	return &sim{t: t, engine: e, arrived: map[ID]time.Duration{}, first: map[ID]time.Duration{}, done: map[ID]Event{}}
}

// advance moves the clock and integrates the gauges over the interval.
func (s *sim) advance(to time.Duration) {
	running, waiting, _ := s.engine.model.gauges()
	s.area += float64(running+waiting) * (to - s.now).Seconds()
	s.now = to
}

// until runs every step that ends by a time.
func (s *sim) until(limit time.Duration) {
	for {
		var next time.Duration
		var ok bool
		s.buf, next, ok = s.engine.Step(s.now, s.buf[:0])
		for _, ev := range s.buf {
			s.take(ev)
		}
		if !ok || next > limit {
			return
		}
		s.advance(max(next, s.now))
	}
}

func (s *sim) take(ev Event) {
	s.events = append(s.events, ev)
	if ev.N == 1 {
		s.first[ev.ID] = ev.At
	}
	if ev.Finish != Going {
		s.done[ev.ID] = ev
	}
}

// submit brings a request in at a time, after all steps before it.
func (s *sim) submit(at time.Duration, r Request) ID {
	s.t.Helper()
	s.until(at)
	s.advance(at)
	id, err := s.engine.Submit(at, r)
	if err != nil {
		s.t.Fatalf("submit at %v: %v", at, err)
	}
	s.arrived[id] = at
	return id
}

func (s *sim) drain() { s.until(math.MaxInt64) }

// ttft returns the times to first token in order, seconds.
func (s *sim) ttft() []float64 {
	var v []float64
	for id, at := range s.first {
		v = append(v, (at - s.arrived[id]).Seconds())
	}
	slices.Sort(v)
	return v
}

func quantile(sorted []float64, p float64) float64 {
	return sorted[min(len(sorted)-1, max(0, int(math.Ceil(p*float64(len(sorted))))-1))]
}

// @testLaw is deterministic: a step is 10 ms, plus 1 ms a decode, 0.1 ms a
// prefilled token.
func testLaw() Law {
	return Law{Name: "test", BaseUS: 10000, DecodeUS: 1000, PrefillUS: 100, MaxSeqs: 4, MaxBatched: 64,
		Blocks: 256, PrefixCache: true, MaxModelLen: 1024, Output: OutputLaw{Median: 5}}
}

func exact(prompt, out int32) Request {
	return Request{Prompt: prompt, MaxTokens: out, IgnoreEOS: true}
}

// TestStepArithmetic follows two requests step by step, worked out by hand.
func TestStepArithmetic(t *testing.T) {
	s := newSim(t, testLaw(), 1)
	a := s.submit(0, exact(100, 3))                 // chunks of 64 and 36
	b := s.submit(5*time.Millisecond, exact(40, 2)) // waits for the first step
	s.drain()
	ms := func(x float64) time.Duration { return micros(x * 1000) }
	want := []Event{
		// step 1: 64 tokens, to 16.4. Step 2: 36 of a, 28 of b, to 32.8.
		{ID: a, At: ms(32.8), N: 1, Target: 3},
		// Step 3: one decode and the last 12 of b, 12.2 ms.
		{ID: a, At: ms(45.0), N: 2, Target: 3}, {ID: b, At: ms(45.0), N: 1, Target: 2},
		// Step 4: two decodes.
		{ID: a, At: ms(57.0), N: 3, Target: 3, Finish: Length}, {ID: b, At: ms(57.0), N: 2, Target: 2, Finish: Length},
	}
	if !slices.Equal(s.events, want) {
		t.Errorf("events %+v\nwant %+v", s.events, want)
	}
}

// TestLateCallerChangesNothing: events are those of the absolute schedule even
// when Step is called only now and then.
func TestLateCallerChangesNothing(t *testing.T) {
	run := func(stride time.Duration) []Event {
		e, err := New(testLaw(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			if _, err := e.Submit(0, exact(50, 20)); err != nil {
				t.Fatal(err)
			}
		}
		var events []Event
		for now, ok := time.Duration(0), true; ok; now += stride {
			next := now
			for ok && next <= now {
				events, next, ok = e.Step(now, events)
			}
		}
		return events
	}
	if a, b := run(time.Microsecond*100), run(170*time.Millisecond); len(a) != 120 || !slices.Equal(a, b) {
		t.Errorf("%d events by a prompt caller, %d by a late one, or different", len(a), len(b))
	}
}

// poisson runs n requests at a rate through a law.
func poisson(t testing.TB, law Law, rate float64, n int, r Request) *sim {
	s := newSim(t, law, 7)
	rng := rand.New(rand.NewPCG(1, 2))
	at := time.Duration(0)
	for range n {
		at += time.Duration(rng.ExpFloat64() / rate * 1e9)
		s.submit(at, r)
	}
	s.drain()
	if len(s.done) != n {
		t.Fatalf("%d of %d requests ended", len(s.done), n)
	}
	return s
}

// TestKnee: the demo law serves 2 requests/s of 1,000 tokens in and 200 out
// at once, and at 8 requests/s it queues within a 20 s replay.
func TestKnee(t *testing.T) {
	law, err := Preset("demo")
	if err != nil {
		t.Fatal(err)
	}
	last := 0.0
	for i, rate := range []float64{1, 2, 4, 6, 8} {
		v := poisson(t, law, rate, int(20*rate), exact(1000, 200)).ttft()
		p99 := quantile(v, 0.99)
		t.Logf("%v requests/s: TTFT p50 %.3f s, p99 %.3f s", rate, quantile(v, 0.5), p99)
		if p99 < last && rate > 2 {
			t.Errorf("TTFT p99 falls from %.3f to %.3f s at %v requests/s", last, p99, rate)
		}
		if i == 1 && p99 > 0.3 {
			t.Errorf("TTFT p99 %.3f s under the knee, want at most 0.3", p99)
		}
		if i == 4 && p99 < 2 {
			t.Errorf("TTFT p99 %.3f s over the knee, want at least 2", p99)
		}
		last = p99
	}
}

// TestLittle: over a run from empty to empty, the integral of the number in the
// engine equals the sum of the times spent there (Little 1961), L = λW.
func TestLittle(t *testing.T) {
	law, _ := Preset("demo")
	s := poisson(t, law, 4, 400, exact(700, 120))
	var spent float64
	for id, ev := range s.done {
		spent += (ev.At - s.arrived[id]).Seconds()
	}
	if diff := math.Abs(s.area-spent) / spent; diff > 1e-9 {
		t.Errorf("L·T = %.6f, N·W = %.6f request-seconds, apart by %g", s.area, spent, diff)
	}
}

// TestPreemption: 4 sequences that need 20 blocks each on 40 blocks.
func TestPreemption(t *testing.T) {
	law := testLaw()
	law.Blocks, law.MaxModelLen = 40, 400
	s := newSim(t, law, 1)
	for i := range 12 {
		s.submit(time.Duration(i)*time.Millisecond, exact(64, 256))
	}
	s.drain()
	st := s.engine.Stats()
	if st.Preemptions == 0 {
		t.Error("no preemption")
	}
	if len(s.done) != 12 || st.GenerationTokens != 12*256 || st.Ended[Length] != 12 {
		t.Errorf("%d ended, %d tokens, want 12 and %d", len(s.done), st.GenerationTokens, 12*256)
	}
	if st.KVUsage != 0 || st.Running+st.Waiting != 0 {
		t.Errorf("at the end: usage %v, %d running, %d waiting", st.KVUsage, st.Running, st.Waiting)
	}
	// LIFO: the first to come is never sent back, so it ends first.
	if first := slices.IndexFunc(s.events, func(e Event) bool { return e.Finish != Going }); s.events[first].ID != 1 {
		t.Errorf("request %d ended first", s.events[first].ID)
	}
}

func TestDeterminism(t *testing.T) {
	law, _ := Preset("8b-h100")
	law.Blocks, law.MaxModelLen = 600, 4096
	run := func(seed uint64) string {
		s := newSim(t, law, seed)
		rng := rand.New(rand.NewPCG(3, 4))
		at := time.Duration(0)
		for i := range 200 {
			at += time.Duration(rng.ExpFloat64() * 1e7)
			s.submit(at, Request{Prompt: 100 + rng.Int32N(1000), Draw: uint64(i), MaxTokens: 300})
		}
		s.drain()
		return fmt.Sprintf("%v %+v", s.events, s.engine.Stats())
	}
	if run(1) != run(1) {
		t.Error("the same seed gives different events")
	}
	if run(1) == run(2) {
		t.Error("different seeds give the same events")
	}
}

func TestPresetRanges(t *testing.T) {
	for _, law := range Presets() {
		if err := law.Validate(); err != nil {
			t.Error(err)
		}
		if law.Source == "" {
			t.Errorf("preset %s has no source", law.Name)
		}
	}
	law, _ := Preset("8b-h100")
	for _, batch := range []int{1, 32, 256} {
		s := newSim(t, law, 1)
		for range batch {
			s.submit(0, exact(256, 60))
		}
		s.drain()
		// The last tokens of the last request, when all have been prefilled.
		itl := (s.done[ID(batch)].At - s.first[ID(batch)]).Seconds() / 59
		if itl < 0.010 || itl > 0.0155 {
			t.Errorf("8b-h100 at batch %d: ITL %.4f s, the source has 0.010-0.015", batch, itl)
		}
		if ttft := s.ttft()[0]; batch == 1 && (ttft < 0.060 || ttft > 0.120) {
			t.Errorf("8b-h100: TTFT %.4f s at 256 tokens, the source has 0.060-0.120", ttft)
		}
	}
}

func TestSubmitRefuses(t *testing.T) {
	law := testLaw()
	law.MaxSeqs, law.MaxWaiting, law.RequestsPerMinute, law.RateBurst = 1, 2, 60, 5
	e, err := New(law, 1)
	if err != nil {
		t.Fatal(err)
	}
	var length *LengthError
	if _, err := e.Submit(0, exact(1000, 100)); !errors.As(err, &length) || length.Prompt != 1000 {
		t.Errorf("too long: %v", err)
	}
	for range 3 {
		if _, err := e.Submit(0, exact(10, 10)); err != nil {
			t.Error(err)
		}
	}
	var queue *QueueError
	if _, err := e.Submit(0, exact(10, 10)); !errors.As(err, &queue) || queue.Waiting != 3 {
		t.Errorf("full queue: %v", err)
	}
	var rate *RateError
	if _, err := e.Submit(0, exact(10, 10)); !errors.As(err, &rate) || rate.RetryAfter != time.Second {
		t.Errorf("empty bucket: %v", err)
	}
	if r := e.Rate(500 * time.Millisecond); r.Limit != 60 || r.Remaining != 0 || r.Reset != 4500*time.Millisecond {
		t.Errorf("rate %+v", r)
	}
	if _, err := e.Submit(time.Second, exact(10, 10)); errors.As(err, &rate) {
		t.Errorf("a token should be back after a second: %v", err)
	}
}

func TestOutputLength(t *testing.T) {
	law := testLaw()
	law.Output = OutputLaw{Median: 50, Sigma: 0.5}
	s := newSim(t, law, 1)
	id := s.submit(0, Request{Prompt: 10, MaxTokens: 3, Draw: 1})
	same := s.submit(0, Request{Prompt: 10, Draw: 2})
	again := s.submit(0, Request{Prompt: 10, Draw: 2})
	least := s.submit(0, Request{Prompt: 10, Draw: 2, MinTokens: 400})
	s.drain()
	if e := s.done[id]; e.N != 3 || e.Finish != Length {
		t.Errorf("capped: %+v", e)
	}
	if a, b := s.done[same], s.done[again]; a.N != b.N || a.Finish != Stop || a.N < 5 {
		t.Errorf("the same key gave %+v and %+v", a, b)
	}
	if e := s.done[least]; e.N != 401 || e.Finish != Stop { // the end token comes after the 400
		t.Errorf("min_tokens: %+v", e)
	}
}

func TestPlainSchedule(t *testing.T) {
	law := Law{Name: "p", MaxModelLen: 4096, Output: OutputLaw{Median: 1}, Plain: &Plain{TTFT: 50000, ITL: 10000}}
	s := newSim(t, law, 1)
	for i := range 300 {
		s.submit(time.Duration(i)*time.Millisecond, exact(10, 20))
	}
	s.drain()
	if len(s.events) != 6000 {
		t.Fatalf("%d events", len(s.events))
	}
	for i, ev := range s.events {
		if want := s.arrived[ev.ID] + 50*time.Millisecond + time.Duration(ev.N-1)*10*time.Millisecond; ev.At != want {
			t.Fatalf("%+v, want at %v", ev, want)
		}
		if i > 0 && ev.At < s.events[i-1].At {
			t.Fatal("events out of order")
		}
	}
}

func TestCancelFrees(t *testing.T) {
	for _, plain := range []bool{false, true} {
		law := testLaw()
		if plain {
			law.Plain = &Plain{TTFT: 1000, ITL: 1000}
		}
		s := newSim(t, law, 1)
		var ids []ID
		for range 8 { // 4 run, 4 wait
			ids = append(ids, s.submit(0, exact(100, 500)))
		}
		s.until(100 * time.Millisecond)
		if st := s.engine.Stats(); !plain && (st.Running != 4 || st.Waiting != 4 || st.KVUsage == 0) {
			t.Errorf("before: %+v", st)
		}
		for _, id := range ids {
			if !s.engine.Cancel(s.now, id) || s.engine.Cancel(s.now, id) {
				t.Error("cancel must find a request once")
			}
		}
		if st := s.engine.Stats(); st.Running+st.Waiting != 0 || st.KVUsage != 0 || st.Ended[Abort] != 8 {
			t.Errorf("after: %+v", st)
		}
		n := len(s.events)
		s.drain()
		if len(s.events) != n {
			t.Error("events after cancellation")
		}
	}
}

func TestValidate(t *testing.T) {
	for name, spoil := range map[string]func(*Law){
		"nan": func(l *Law) { l.BaseUS = math.NaN() }, "negative": func(l *Law) { l.PrefillUS = -1 },
		"no time": func(l *Law) { l.BaseUS = 0 }, "blocks": func(l *Law) { l.Blocks = 63 },
		"budget": func(l *Law) { l.MaxBatched = 3 }, "seqs": func(l *Law) { l.MaxSeqs = 0 },
		"len": func(l *Law) { l.MaxModelLen = 1 }, "out": func(l *Law) { l.Output.Median = 0 },
		"jitter": func(l *Law) { l.JitterSigma = 3 }, "plain": func(l *Law) { l.Plain = &Plain{TTFT: -1} },
	} {
		l := testLaw()
		spoil(&l)
		if _, err := New(l, 1); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
