package fit

import (
	"math"
	"testing"
)

// TestSampledCurve holds the curve of a sample against the exact one on real
// traces, over many choices of the sample.
func TestSampledCurve(t *testing.T) {
	for _, name := range []string{"mooncake_conversation", "mooncake_synthetic"} {
		s := load(t, name)
		exact, err := StackDistances(s.blocks, s.input, 512)
		check(t, err)
		inf, err := Prefix(s.blocks, s.input, 512)
		check(t, err)
		capacities := CurveCapacities()
		want := exact.LRUCurve(capacities)
		for _, rate := range []float64{0.05, 0.2} {
			var worst, sum, printed float64
			within, all := 0, 0
			for seed := range int64(20) {
				x := NewSampledReuse(rate, 512)
				for i := range s.blocks {
					x.Add(s.blocks[i], s.input[i], int(inf.Hits[i]), seed<<40)
				}
				for i, p := range x.Curve(capacities) {
					e := math.Abs(p.Tokens - want[i].Tokens.Value)
					worst, sum, printed = max(worst, e), sum+e, printed+p.TokensError
					all++
					if e <= p.TokensError+1e-9 {
						within++
					}
				}
			}
			t.Logf("%s at %g: mean error %.4f, worst %.4f, printed %.4f, within %d of %d", name, rate, sum/float64(all), worst, printed/float64(all), within, all)
			if float64(within) < 0.9*float64(all) {
				t.Errorf("%s at %g: only %d of %d points are within the printed error", name, rate, within, all)
			}
		}
	}
}
