package dist

import (
	"math"
	"math/rand/v2"
)

// Quantile1 is the type-1 quantile of an ascending sample: the smallest value
// whose empirical distribution reaches p, x[⌈np⌉−1] (Hyndman and Fan 1996). NaN
// of nothing.
func Quantile1(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[rank1(int64(len(sorted)), p)]
}

// rank1 is the index ⌈np⌉−1 within [0,n). A product that misses an integer by
// rounding alone counts as that integer: 100·0.07 is 7, not 8.
func rank1(n int64, p float64) int64 {
	h := float64(n) * p
	if r := math.Round(h); math.Abs(h-r) <= 1e-9*math.Max(1, h) {
		h = r
	}
	return min(max(int64(math.Ceil(h))-1, 0), n-1)
}

// tail holds the probabilities that a table needs beyond the percentiles: from
// p99 to the maximum in one straight line the mean of a heavy tail is 20 % off.
func tail() []float64 { return []float64{0.995, 0.998, 0.999, 0.9995, 0.9999} }

// Grid returns steps+1 even probabilities from 0 to 1 and the five tail points,
// ascending: Grid(100) has 106 points, Grid(50) has 56.
func Grid(steps int) []float64 {
	ps := make([]float64, 0, steps+6)
	for i := range steps {
		ps = append(ps, float64(i)/float64(steps))
	}
	return append(append(ps, tail()...), 1)
}

// Table is a quantile table: X[i] is the type-1 quantile at P[i]; P ascends
// from 0 to 1 and X never falls.
type Table struct {
	P, X []float64
}

// NewTable reads the quantiles of v off at ps.
func NewTable(v Values, ps []float64) Table {
	return Table{P: ps, X: v.Quantiles(ps)}
}

// At interpolates the table linearly at u within [0,1]; NaN of an empty table.
func (t Table) At(u float64) float64 {
	if len(t.P) == 0 {
		return math.NaN()
	}
	lo, hi := 0, len(t.P)-1
	switch {
	case u <= t.P[lo]:
		return t.X[lo]
	case u >= t.P[hi]:
		return t.X[hi]
	}
	for hi-lo > 1 {
		if m := (lo + hi) / 2; t.P[m] <= u {
			lo = m
		} else {
			hi = m
		}
	}
	f := (u - t.P[lo]) / (t.P[hi] - t.P[lo])
	return t.X[lo] + float64(f*(t.X[hi]-t.X[lo]))
}

// Length is the whole number of tokens at u: At, rounded, at least 1.
func (t Table) Length(u float64) int32 {
	return int32(math.Min(math.Max(math.RoundToEven(t.At(u)), 1), math.MaxInt32))
}

// Rand draws one length by inverse sampling.
func (t Table) Rand(r *rand.Rand) int32 { return t.Length(r.Float64()) }
