package synth_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"reprise/fit"
	"reprise/fit/dist"
	"reprise/fit/synth"
	"reprise/trace"
)

// TestEmptyAnswers keeps the share of answers without a token: they are an atom of
// the table, and a one in their place is 0.3 off in KS.
func TestEmptyAnswers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 21))
	src := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh, Time: trace.Time{Calendar: trace.CalendarNone}}}
	for i := range 2000 {
		out := int32(0)
		if rng.Float64() > 0.3 {
			out = 1 + rng.Int32N(300)
		}
		src.Requests = append(src.Requests, trace.Request{ID: int64(i), N: 1, T: trace.Some(int64(i) * 1e6), Input: trace.Some[int32](100), Output: trace.Some(out)})
	}
	sp, err := fit.Fit(src, fit.Options{})
	check(t, err)
	x, err := synth.Trace(sp, synth.Options{Seed: 1})
	check(t, err)
	_, a := lengthsOf(src)
	_, b := lengthsOf(x)
	if ks := dist.KSTwo(dist.FromInts(a, 1), dist.FromInts(b, 1)); ks > 1.5*math.Sqrt(2.0/2000) {
		t.Errorf("outputs are %.3f apart in KS", ks)
	}
}
