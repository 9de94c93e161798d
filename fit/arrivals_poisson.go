package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// PoissonPeak holds quantiles of the peak-to-mean ratio that K independent
// Poisson bins show by chance. A measured ratio inside P5 to P95 says nothing
// about bursts.
type PoissonPeak struct{ P5, P50, P95 float64 }

// PoissonPeakToMean is exact: the largest of k bins of mean m is at most x with
// probability F(x)^k, F being the Poisson distribution function.
func PoissonPeakToMean(k int64, m float64) PoissonPeak {
	if k < 1 || !(m > 0) {
		return PoissonPeak{}
	}
	return PoissonPeak{maxQuantile(k, m, 0.05) / m, maxQuantile(k, m, 0.5) / m, maxQuantile(k, m, 0.95) / m}
}

// maxQuantile is the smallest x with F(x)^k >= p, by bisection.
func maxQuantile(k int64, m, p float64) float64 {
	reaches := func(x float64) bool {
		// log F by the upper tail, which keeps its digits where F is near 1.
		return float64(float64(k)*math.Log1p(-mathext.GammaIncReg(x+1, m))) >= math.Log(p)
	}
	lo, hi := -1.0, math.Ceil(m)+1
	for !reaches(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		if mid := math.Floor((lo + hi) / 2); reaches(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
