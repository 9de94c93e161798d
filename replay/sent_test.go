package replay

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"reprise/trace"
)

// sharing is a trace of n requests a second apart, of 10 tokens each, that all
// have one block, or each its own.
func sharing(n int, alike bool) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{BlockTokens: 10}}
	for i := range n {
		r := trace.Request{ID: int64(i), T: some(int64(i) * 1e6), N: 1, Input: some[int32](10), Output: some[int32](1), Blocks: []int32{int32(i)}}
		if alike {
			r.Blocks[0] = 0
		}
		t.Requests = append(t.Requests, r)
	}
	return t
}

// record runs a plan and returns what run.json says of it once it is read again.
func recorded(t *testing.T, ctx context.Context, p *Plan, mode string, o Options, s Sender) *Run {
	t.Helper()
	o.Waiter, o.Beat, o.Later = SleepWaiter{}, SleepWaiter{}, SleepWaiter{}
	path := filepath.Join(t.TempDir(), "run")
	planned := Run{StartedAt: "2026-01-02T03:04:05Z", Cache: CacheMode{Mode: mode, ExpectedHitRate: p.ExpectedHits(10)}}
	if mode == CacheNone {
		planned.Cache.ExpectedHitRate = 0
	}
	p.Keep = mode == CacheKeep
	if _, err := Record(ctx, path, planned, p, s, o, nil); err != nil && !errors.Is(err, ErrInterrupted) && !errors.Is(err, ErrBroken) {
		t.Fatal(err)
	}
	d, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return d.Run
}

func closed(t *testing.T, tr *trace.Trace, levels ...Level) *Plan {
	t.Helper()
	p, err := NewClosedPlan(tr, levels)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A run that ended early, by an interrupt or the breaker, has the expected hits
// of what was sent until then: of ten requests that share one block, and of which
// four were sent, three of four, and not nine of ten.
func TestExpectedHitsOfARunThatEndedEarly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, err := NewPlan(sharing(10, true))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		if r := recorded(t, ctx, p, CacheWorkload, Options{}, &fake{stamp: true}); r.Cache.ExpectedHitRate != 0.75 {
			t.Errorf("interrupted after 4 of 10: %g", r.Cache.ExpectedHitRate)
		}
		if r := recorded(t, t.Context(), p, CacheWorkload, Options{Broken: 2, Breaker: -1}, &fake{stamp: true, class: HTTP5xx}); r.Cache.ExpectedHitRate != 0.5 {
			t.Errorf("broken after 2 of 10: %g", r.Cache.ExpectedHitRate)
		}
		if r := recorded(t, t.Context(), p, CacheWorkload, Options{Breaker: -1}, &fake{class: Connect}); r.Cache.ExpectedHitRate != 0.9 || r.Cache.Sent != nil {
			t.Errorf("nothing was sent, and the plan's rate is %+v", r.Cache)
		}
	})
}

// Hits go by the order in which requests were sent: the later of two that share
// a block has it, whichever of them the trace has first.
func TestExpectedHitsGoByTheOrderOfSending(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr := sharing(2, true)
		tr.Requests[0].Input, tr.Requests[0].Blocks = some[int32](30), []int32{0, 1, 2}
		tr.Requests[1].Input, tr.Requests[1].Blocks = some[int32](20), []int32{0, 1}
		p := closed(t, tr, Level{Concurrency: 2})
		s := &fake{slow: func(j Job) time.Duration { return time.Duration(2-j.Row) * time.Second }, stamp: true}
		r := recorded(t, t.Context(), p, CacheWorkload, Options{}, s)
		if want := []SentHits{{0, 20, 50}}; len(r.Cache.Sent) != 1 || r.Cache.Sent[0] != want[0] {
			t.Fatalf("%+v, want %+v", r.Cache.Sent, want)
		}
		s = &fake{slow: func(j Job) time.Duration { return time.Duration(1+j.Row) * time.Second }, stamp: true}
		tr.Requests[1].Input, tr.Requests[1].Blocks = some[int32](40), []int32{0, 1, 2, 3}
		if r = recorded(t, t.Context(), closed(t, tr, Level{Concurrency: 2}), CacheWorkload, Options{}, s); r.Cache.Sent[0].Hit != 30 {
			t.Fatalf("%+v", r.Cache.Sent)
		}
	})
}

// In a closed loop each level has the hits of what it sent: by time as many
// requests as it came to, in passes that share nothing unless the cache is kept.
func TestExpectedHitsOfLevels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		second := &fake{stamp: true, take: func(Job) time.Duration { return time.Second }}
		levels := []Level{{Concurrency: 1, Last: 2 * time.Second}, {Concurrency: 2, Last: 3 * time.Second}}
		for _, c := range []struct {
			mode  string
			alike bool
			rows  int
			want  []SentHits
		}{
			{CacheWorkload, true, 100, []SentHits{{0, 10, 20}, {1, 60, 60}}},
			{CacheWorkload, false, 100, []SentHits{{0, 0, 20}, {1, 0, 60}}},
			{CacheWorkload, false, 2, []SentHits{{0, 0, 20}, {1, 0, 60}}}, // four passes
			{CacheWorkload, true, 2, []SentHits{{0, 10, 20}, {1, 30, 60}}},
			{CacheKeep, false, 2, []SentHits{{0, 0, 20}, {1, 60, 60}}},
			{CacheNone, true, 100, nil},
		} {
			r := recorded(t, t.Context(), closed(t, sharing(c.rows, c.alike), levels...), c.mode, Options{}, second)
			if len(r.Cache.Sent) != len(c.want) {
				t.Errorf("%+v: %+v", c, r.Cache)
				continue
			}
			for i, w := range c.want {
				if r.Cache.Sent[i] != w || r.Cache.Expected(w.Point) != float64(w.Hit)/float64(w.Prompt) {
					t.Errorf("%s of %d rows, alike %v: %+v, want %+v", c.mode, c.rows, c.alike, r.Cache.Sent, c.want)
				}
			}
			if c.want == nil && (r.Cache.ExpectedHitRate != 0 || r.Cache.Expected(1) != 0) {
				t.Errorf("%s: %+v", c.mode, r.Cache)
			}
		}
	})
}

// A warm-up fills the cache and is in no number; a request that is sent twice
// counts once.
func TestExpectedHitsOfTheMeasuredPart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, err := NewPlan(sharing(4, true))
		if err != nil {
			t.Fatal(err)
		}
		p.WarmUp(1500 * time.Millisecond)
		if got := p.ExpectedHits(10); got != 1 {
			t.Errorf("the plan expects %g", got)
		}
		r := recorded(t, t.Context(), p, CacheWorkload, Options{}, &fake{stamp: true, twice: true})
		if r.Cache.ExpectedHitRate != 1 || r.Cache.Sent[0].Prompt != 20 {
			t.Errorf("%+v", r.Cache)
		}
	})
}

// What is remembered of passes ends with them, however many a run sends.
func TestExpectedHitsForgetPasses(t *testing.T) {
	p := closed(t, sharing(3, true), Level{Concurrency: 1, Last: time.Hour})
	s, most := p.sending(), 0
	for i := range 3000 {
		j := p.pass(i)
		s.sent(&j)
		if i > 0 {
			before := p.pass(i - 1) // ends after the next was sent
			s.over(&before)
		}
		most = max(most, len(s.passes))
	}
	if most > 2 || rateOf(s.points) < 0.66 || rateOf(s.points) > 0.67 {
		t.Errorf("%d passes at once, rate %g", most, rateOf(s.points))
	}
}

// Repetitions joined expect what all of them sent.
func TestJoinedRepeatsExpectWhatAllSent(t *testing.T) {
	var c CacheMode
	c.join([]SentHits{{0, 10, 20}, {1, 0, 20}}, -1, true)
	c.join([]SentHits{{1, 20, 60}}, -1, false)
	if c.Expected(0) != 0.5 || c.Expected(1) != 0.25 || c.ExpectedHitRate != 0.3 {
		t.Errorf("%+v", c)
	}
	if c.join(nil, -1, false); c.Sent != nil || c.Expected(1) != 0.3 {
		t.Errorf("with one that does not say: %+v", c)
	}
	c.join([]SentHits{{0, 10, 20}}, 7, true)
	if c.join([]SentHits{{0, 0, 20}}, 7, false); c.Expected(7) != 0.25 {
		t.Errorf("at the point of a sweep: %+v", c)
	}
}
