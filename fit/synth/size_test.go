package synth_test

import (
	"math/rand/v2"
	"testing"

	"reprise/fit"
	"reprise/fit/synth"
	"reprise/trace"
	"reprise/trace/spec"
)

// day stretches a public trace over a day: its requests in their order, over
// and over, with new blocks each time.
func day(t testing.TB, name string, n int) *trace.Trace {
	src := public(t, name)
	out := &trace.Trace{Header: src.Header}
	rng := rand.New(rand.NewPCG(1, 1))
	at, highest := int64(0), int32(0)
	for i := range src.Requests {
		for _, b := range src.Requests[i].Blocks {
			highest = max(highest, b+1)
		}
	}
	for i := range n {
		r := src.Requests[i%len(src.Requests)]
		r.ID, r.T = int64(i), trace.Some(at)
		blocks := make([]int32, len(r.Blocks))
		for k, b := range r.Blocks {
			blocks[k] = b + highest*int32(i/len(src.Requests))
		}
		r.Blocks = blocks
		out.Requests = append(out.Requests, r)
		at += int64(rng.ExpFloat64() * 86400e6 / float64(n))
	}
	out.Header.Counts = trace.Counts{Read: int64(n), Kept: int64(n)}
	return out
}

// TestSpecSize holds the spec of a day, with every table full, to what a person
// can page through.
func TestSpecSize(t *testing.T) {
	x := day(t, "mooncake-conv", 12_000)
	sp, err := fit.Fit(x, fit.Options{})
	check(t, err)
	raw, err := spec.Encode(sp)
	check(t, err)
	w := sp.Workload
	t.Logf("%d requests: %d bytes, %d counts, %d strata of outputs, %d of reuse", len(x.Requests), len(raw), len(w.Arrivals.Rates.Counts),
		len(w.Lengths.Joint.Strata), len(w.Prefix.Model.Strata))
	if n := len(w.Arrivals.Rates.Counts); n < 1430 || n > 1450 {
		t.Errorf("a day has %d minutes", n)
	}
	if len(raw) > 100_000 {
		t.Errorf("the spec of a day takes %d bytes", len(raw))
	}
	if _, err := synth.Trace(sp, synth.Options{}); err != nil {
		t.Error(err)
	}
}
