package dist

import "math"

// KS is the one-sample Kolmogorov-Smirnov distance sup|Fn−F|; repeated values
// count as one jump, as scipy's kstest does. NaN of nothing.
func KS(v Values, cdf func(float64) float64) float64 {
	if v.Len() == 0 {
		return math.NaN()
	}
	var d float64
	var below int64
	n := float64(v.Len())
	for i, x := range v.X {
		f := cdf(x)
		d = math.Max(d, f-float64(below)/n)
		below += v.N[i]
		d = math.Max(d, float64(below)/n-f)
	}
	return d
}

// KSDiscrete is the distance over integers from f rounded to the nearest one,
// sup|Fn(k)−F(k+½)|.
func KSDiscrete(v Values, cdf func(float64) float64) float64 {
	if v.Len() == 0 {
		return math.NaN()
	}
	var d float64
	var below int64
	n := float64(v.Len())
	for i, x := range v.X {
		// Between two values Fn is flat while F rises, so its ends suffice.
		d = math.Max(d, cdf(x-0.5)-float64(below)/n)
		below += v.N[i]
		d = math.Max(d, math.Abs(float64(below)/n-cdf(x+0.5)))
	}
	return d
}

// KSTwo is the two-sample distance sup|F−G|; NaN when either is empty.
func KSTwo(a, b Values) float64 {
	var d float64
	if !walk(a, b, func(_, _, diff float64) { d = math.Max(d, math.Abs(diff)) }) {
		return math.NaN()
	}
	return d
}

// Wasserstein is the 1-Wasserstein (earth mover's) distance ∫|F−G|, in the
// unit of the values; NaN when either is empty.
func Wasserstein(a, b Values) float64 {
	var w float64
	if !walk(a, b, func(x, next, diff float64) { w += float64(math.Abs(diff) * (next - x)) }) {
		return math.NaN()
	}
	return w
}

// walk calls step for every interval [x, next) of the merged values with F−G on
// it; the last interval is empty. It reports false when a sample is empty.
func walk(a, b Values, step func(x, next, diff float64)) bool {
	if a.Len() == 0 || b.Len() == 0 {
		return false
	}
	var i, j int
	var na, nb int64
	for i < len(a.X) || j < len(b.X) {
		x := math.Min(at(a.X, i), at(b.X, j))
		if at(a.X, i) == x {
			na += a.N[i]
			i++
		}
		if at(b.X, j) == x {
			nb += b.N[j]
			j++
		}
		next := math.Min(at(a.X, i), at(b.X, j))
		if math.IsInf(next, 1) {
			next = x
		}
		step(x, next, float64(na)/float64(a.Len())-float64(nb)/float64(b.Len()))
	}
	return true
}

func at(x []float64, i int) float64 {
	if i < len(x) {
		return x[i]
	}
	return math.Inf(1)
}
