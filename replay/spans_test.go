package replay

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The quantiles of a histogram bound the true ones from above, within 1/16.
func TestSpans(t *testing.T) {
	var s Spans
	for _, v := range []int64{10, 1000, 1000, 1000_000, -5} {
		s.Add(v)
	}
	all := s.Count()
	if q := all.Quantile(0.5); q < 1000 || q > 1063 || all.Quantile(1) < 1000_000 || all.N() != 5 || all.Since(all).Quantile(0.5) != -1 {
		t.Error(q, all.Quantile(1))
	}
	r := rand.New(rand.NewPCG(3, 4))
	var more Spans
	values := make([]int64, 5000)
	for i := range values {
		values[i] = r.Int64N(1 << r.IntN(40))
		more.Add(values[i])
	}
	slices.Sort(values)
	for _, p := range []float64{0, 0.5, 0.9, 0.99, 0.999} {
		want, got := values[int(p*5000)], more.Count().Quantile(p)
		if got < want || got > want+want/16 {
			t.Errorf("quantile %g is %d, the true one %d", p, got, want)
		}
	}
	if (SpanCount{}).Quantile(0.5) != -1 || (SpanCount{}).N() != 0 {
		t.Error("the empty count has spans")
	}
}
