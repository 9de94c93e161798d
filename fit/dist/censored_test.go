package dist

import (
	"math"
	"testing"
)

// TestKSCensored holds the distance to the estimate of Kaplan and Meier worked out
// by hand: times 1, 2+, 3, 4+, 5 leave 1, 0.8, 0.5333 and 0.
func TestKSCensored(t *testing.T) {
	whole, cut := NewValues([]float64{1, 3, 5}), NewValues([]float64{2, 4})
	if got := KSCensored(whole, cut, func(float64) float64 { return 0 }); math.Abs(got-1) > 1e-12 {
		t.Errorf("distance from 0 is %v, want 1", got)
	}
	half := func(x float64) float64 { return min(x/10, 1) }
	// F is 0.2 at 1, 0.4667 at 3, 1 at 5; before 5 it is 0.4667 and the line is at 0.5.
	if got := KSCensored(whole, cut, half); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("distance from the line is %v, want 0.5", got)
	}
	if got, want := KSCensored(whole, Values{}, half), KS(whole, half); got != want {
		t.Errorf("with nothing cut the distance is %v, want %v", got, want)
	}
	// A cut value at a whole one's place is still at risk there.
	if got := KSCensored(NewValues([]float64{1}), NewValues([]float64{1}), func(float64) float64 { return 0 }); got != 0.5 {
		t.Errorf("distance is %v, want 0.5", got)
	}
}
