package dist

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Values is a sample as ascending distinct values X with how often each occurs
// in N. Lengths repeat a lot, so every pass costs the distinct values only, and
// two samples merge exactly.
type Values struct {
	X []float64
	N []int64

	total int64
}

// NewValues counts the values of x, which keeps its order. NaNs are dropped.
func NewValues(x []float64) Values {
	s := slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	slices.Sort(s)
	v := room(s)
	for _, f := range s {
		v.add(f, 1)
	}
	return v
}

// room makes room for the distinct values of a sorted list, and no more: of
// millions of gaps most are distinct.
func room[T cmp.Ordered](sorted []T) Values {
	n := min(len(sorted), 1)
	for i := 1; i < len(sorted); i++ {
		if sorted[i] != sorted[i-1] {
			n++
		}
	}
	return Values{X: make([]float64, 0, n), N: make([]int64, 0, n)}
}

// FromInts counts integers, each divided by per (1 keeps them): one second is
// 1e6 µs, so microseconds become seconds with per = 1e6.
func FromInts[T ~int32 | ~int64](x []T, per float64) Values {
	if v, ok := counted(x, per); ok {
		return v
	}
	s := slices.Clone(x)
	slices.Sort(s)
	v := room(s)
	for _, n := range s {
		v.add(float64(n)/per, 1)
	}
	return v
}

// counted counts values that lie close together, which costs a pass and not a
// sort; false where they are few or lie far apart.
func counted[T ~int32 | ~int64](x []T, per float64) (v Values, ok bool) {
	if len(x) < 1024 {
		return v, false
	}
	low, high := slices.Min(x), slices.Max(x)
	if span := uint64(high) - uint64(low); span >= uint64(8*len(x)) || span > 1<<26 || len(x) > math.MaxInt32 {
		return v, false
	}
	counts := make([]int32, int64(high)-int64(low)+1)
	for _, n := range x {
		counts[n-low]++
	}
	for i, n := range counts {
		if n > 0 {
			v.add(float64(int64(low)+int64(i))/per, int64(n))
		}
	}
	return v, true
}

// Merge returns the union of two samples.
func Merge(a, b Values) Values {
	var v Values
	i, j := 0, 0
	for i < len(a.X) || j < len(b.X) {
		if j == len(b.X) || (i < len(a.X) && a.X[i] <= b.X[j]) {
			v.add(a.X[i], a.N[i])
			i++
		} else {
			v.add(b.X[j], b.N[j])
			j++
		}
	}
	return v
}

// add appends n times x, which is not below the last value.
func (v *Values) add(x float64, n int64) {
	v.total += n
	if k := len(v.X); k > 0 && v.X[k-1] == x {
		v.N[k-1] += n
		return
	}
	v.X = append(v.X, x)
	v.N = append(v.N, n)
}

// Len is the number of values, repeats included.
func (v Values) Len() int64 { return v.total }

// Positive returns the values above zero.
func (v Values) Positive() Values {
	i, _ := slices.BinarySearch(v.X, math.SmallestNonzeroFloat64)
	p := Values{X: v.X[i:], N: v.N[i:], total: v.total}
	for _, n := range v.N[:i] {
		p.total -= n
	}
	return p
}

// Count returns how often x occurs.
func (v Values) Count(x float64) int64 {
	if i, ok := slices.BinarySearch(v.X, x); ok {
		return v.N[i]
	}
	return 0
}

// Sum is the sum of the values, exact for integers below 2^53.
func (v Values) Sum() float64 { return v.sum(func(x float64) float64 { return x }) }

// Mean is the arithmetic mean; NaN of nothing.
func (v Values) Mean() float64 { return v.Sum() / float64(v.total) }

// SD is the sample standard deviation, n−1 below the line; NaN below two values.
func (v Values) SD() float64 {
	if v.total < 2 {
		return math.NaN()
	}
	m := v.Mean()
	ss := v.sum(func(x float64) float64 { d := x - m; return float64(d * d) })
	return math.Sqrt(ss / float64(v.total-1))
}

// meanLog is the mean of log x.
func (v Values) meanLog() float64 { return v.sum(math.Log) / float64(v.total) }

// sum adds f over all values.
func (v Values) sum(f func(float64) float64) float64 {
	var s Sum
	for i, x := range v.X {
		s.Add(float64(float64(v.N[i]) * f(x)))
	}
	return s.Value()
}

// Sum adds numbers with Neumaier's correction, so that a million terms cost no
// digits. The zero Sum is 0.
type Sum struct{ s, c float64 }

// Add adds a term.
func (a *Sum) Add(term float64) {
	t := a.s + term
	if math.Abs(a.s) >= math.Abs(term) {
		a.c += (a.s - t) + term
	} else {
		a.c += (term - t) + a.s
	}
	a.s = t
}

// Value is the sum so far.
func (a *Sum) Value() float64 { return a.s + a.c }

// Quantile is the type-1 quantile at p; NaN of nothing.
func (v Values) Quantile(p float64) float64 { return v.Quantiles([]float64{p})[0] }

// Quantiles returns type-1 quantiles at ascending probabilities.
func (v Values) Quantiles(ps []float64) []float64 {
	out := make([]float64, len(ps))
	var below int64
	i := 0
	for k, p := range ps {
		if v.total == 0 {
			out[k] = math.NaN()
			continue
		}
		rank := rank1(v.total, p)
		for below+v.N[i] <= rank {
			below += v.N[i]
			i++
		}
		out[k] = v.X[i]
	}
	return out
}

// Modes returns the k most frequent values and their counts, ties by value.
func (v Values) Modes(k int) Values {
	order := make([]int, len(v.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(v.N[b] - v.N[a]) })
	var m Values
	for _, i := range order[:min(k, len(order))] {
		m.X, m.N, m.total = append(m.X, v.X[i]), append(m.N, v.N[i]), m.total+v.N[i]
	}
	return m
}

// Repeat is a sample of n times x; empty when n is not positive.
func Repeat(x float64, n int64) Values {
	if n <= 0 {
		return Values{}
	}
	return Values{X: []float64{x}, N: []int64{n}, total: n}
}

// FromCounts is a sample given as integer values with their counts, each value
// divided by per.
func FromCounts(counts map[int64]int64, per float64) Values {
	var v Values
	for _, x := range slices.Sorted(maps.Keys(counts)) {
		if counts[x] > 0 {
			v.add(float64(x)/per, counts[x])
		}
	}
	return v
}
