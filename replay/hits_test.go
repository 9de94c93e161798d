package replay

import (
	"testing"
	"time"

	"reprise/trace"
)

// The hit rate expected is of what is sent: half of a trace whose second half
// repeats the first shares nothing, and a second pass has blocks of its own
// unless the cache is to be kept warm.
func TestExpectedHitsAreOfWhatIsSent(t *testing.T) {
	tr := &trace.Trace{Header: trace.Header{BlockTokens: 10}}
	for i := range 10 {
		tr.Requests = append(tr.Requests, trace.Request{ID: int64(i), T: trace.Some(int64(i) * 1e6), Input: trace.Some(int32(10)), Output: trace.Some(int32(1)), Blocks: []int32{int32(i % 5)}})
	}
	half := *tr
	half.Requests = tr.Requests[:5]
	for _, c := range []struct {
		t    *trace.Trace
		last time.Duration
		keep bool
		want float64
	}{{tr, 10 * time.Second, false, 0.5}, {tr, 5 * time.Second, false, 0}, {&half, 10 * time.Second, false, 0}, {&half, 10 * time.Second, true, 0.5}} {
		p, err := NewArrivalPlan(c.t, Arrivals{Process: Constant, Rate: Steady(1, c.last)})
		if err != nil {
			t.Fatal(err)
		}
		if p.Keep = c.keep; p.ExpectedHits(10) != c.want {
			t.Errorf("%d of %d rows, keep %v: %g, want %g", len(p.Jobs), len(c.t.Requests), c.keep, p.ExpectedHits(10), c.want)
		}
	}
}
