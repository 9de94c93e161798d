package fit

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"reprise/fit/dist"
	"reprise/trace/spec"
)

// maxStrata and minStratum size the conditional tables: ten strata of equal
// mass, fewer where a stratum would hold under 50 requests.
const (
	maxStrata  = 10
	minStratum = 50
)

var errLengths = errors.New("inputs and outputs must be as many as each other")

// Pearson is the linear correlation of x and y.
func Pearson(x, y []int32) Stat {
	return correlation(len(x), len(y), func(i int) (float64, float64) { return float64(x[i]), float64(y[i]) })
}

// Spearman is the rank correlation of x and y; ties share their average rank.
// Near zero does not mean independent.
func Spearman(x, y []int32) Stat {
	if len(x) != len(y) {
		return absent(errLengths.Error())
	}
	rx, ry := ranks(x), ranks(y)
	return correlation(len(x), len(y), func(i int) (float64, float64) { return rx[i], ry[i] })
}

// ranks returns the average rank of each value, from 1.
func ranks(x []int32) []float64 {
	order := byValue(x)
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+1+j) / 2
		}
		i = j
	}
	return out
}

// byValue returns the positions of x by ascending value, ties by position.
func byValue(x []int32) []int32 {
	all := make([]int32, len(x))
	for i := range all {
		all[i] = int32(i)
	}
	return sortedBy(x, all)
}

// sortedBy returns order, positions of x, by ascending value; ties stay in their
// order. Lengths lie close together, so values are counted, not compared, unless
// they lie far apart.
func sortedBy(x, order []int32) []int32 {
	out := make([]int32, len(order))
	if len(order) == 0 {
		return out
	}
	low, high := x[order[0]], x[order[0]]
	for _, i := range order {
		low, high = min(low, x[i]), max(high, x[i])
	}
	span := int64(high) - int64(low) + 1
	if span > int64(8*len(order))+1024 {
		copy(out, order)
		slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(x[a], x[b]) })
		return out
	}
	next := make([]int32, span+1)
	for _, i := range order {
		next[x[i]-low+1]++
	}
	for k := range span {
		next[k+1] += next[k]
	}
	for _, i := range order {
		k := x[i] - low
		out[next[k]] = i
		next[k]++
	}
	return out
}

func correlation(nx, ny int, at func(i int) (float64, float64)) Stat {
	if nx != ny {
		return absent(errLengths.Error())
	}
	if nx < 2 {
		return absent("fewer than two values")
	}
	var mx, my float64
	for i := range nx {
		x, y := at(i)
		mx, my = mx+x, my+y
	}
	mx, my = mx/float64(nx), my/float64(nx)
	var xx, yy, xy float64
	for i := range nx {
		x, y := at(i)
		x, y = x-mx, y-my
		xx, yy, xy = xx+float64(x*x), yy+float64(y*y), xy+float64(x*y)
	}
	if xx == 0 || yy == 0 {
		return absent("all values are equal")
	}
	return value(xy / float64(math.Sqrt(xx)*math.Sqrt(yy)))
}

// jointGrid is coarse, since a stratum only has to say where its outputs stand
// among all outputs, which have a fine table of their own.
func jointGrid() []float64 {
	return []float64{0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1}
}

// sixDigits rounds lengths as the spec writes them, so that bounds which differ
// here differ there.
func sixDigits(x []int32) []int32 {
	out := make([]int32, len(x))
	for i, v := range x {
		out[i] = v
		if v >= 1_000_000 {
			out[i] = int32(spec.Round(float64(v)))
		}
	}
	return out
}

// Stratum holds the outputs of the requests whose input is at most Upto and
// above the stratum before.
type Stratum struct {
	Upto   int32
	N      int64
	Output dist.Table
}

// Strata cuts the requests into up to ten strata of about equal mass by input
// and describes the outputs of each by a coarse table. Equal inputs are never
// parted, so strata merge at a value that repeats, and where few requests are.
func Strata(input, output []int32) ([]Stratum, error) {
	if len(input) != len(output) {
		return nil, errLengths
	}
	order := byValue(input)
	bounds := cuts(input, order)
	out := make([]Stratum, 0, len(bounds))
	from := 0
	for _, to := range bounds {
		part := make([]int32, 0, to-from)
		for _, i := range order[from:to] {
			part = append(part, output[i])
		}
		out = append(out, Stratum{Upto: input[order[to-1]], N: int64(to - from),
			Output: dist.NewTable(dist.FromInts(part, 1), jointGrid())})
		from = to
	}
	return out, nil
}

// cuts returns the end of each stratum in order, a list of positions by
// ascending input: at the type-1 deciles, moved up to the end of a tie.
func cuts(input, order []int32) []int {
	n := len(order)
	k := min(maxStrata, max(n/minStratum, 1))
	var ends []int
	from := 0
	for i := 1; i <= k && from < n; i++ {
		to := max((n*i+k-1)/k, from+1)
		for to < n && input[order[to]] == input[order[to-1]] {
			to++
		}
		if i < k && (to-from < min(minStratum, n) || n-to < minStratum) {
			continue // too few on one side: they join the next stratum
		}
		if i == k {
			to = n
		}
		ends = append(ends, to)
		from = to
	}
	return ends
}
