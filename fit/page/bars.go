package page

import (
	"math"
	"strings"

	"reprise/trace/spec"
)

// eighths are the heights of a cell.
var eighths = [...]rune{' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// Line draws values as one line of block characters of at most width cells, the
// largest in full; a cell of several values stands for their mean. Values below
// zero are gaps.
func Line(values []float64, width int) string {
	cells := cellsOf(values, width)
	top := 0.0
	for _, v := range cells {
		top = max(top, v)
	}
	var b strings.Builder
	for _, v := range cells {
		switch {
		case v < 0 || math.IsNaN(v):
			b.WriteRune('·')
		case top == 0:
			b.WriteRune(eighths[0])
		default:
			b.WriteRune(eighths[int(math.Ceil(8*v/top))])
		}
	}
	return b.String()
}

func cellsOf(values []float64, width int) []float64 {
	if len(values) <= width {
		return values
	}
	out := make([]float64, width)
	for i := range out {
		from, to := i*len(values)/width, (i+1)*len(values)/width
		sum, n := 0.0, 0
		for _, v := range values[from:to] {
			if v >= 0 {
				sum, n = sum+v, n+1
			}
		}
		out[i] = -1
		if n > 0 {
			out[i] = sum / float64(n)
		}
	}
	return out
}

// Density reads off a quantile table how much mass lies in each of n bins of
// equal width on a logarithmic axis from lo to hi.
func Density(t *spec.Table, n int) (mass []float64, lo, hi float64) {
	if len(t.Values) == 0 {
		return nil, 0, 0
	}
	lo, hi = max(float64(t.Values[0]), 1), max(float64(t.Values[len(t.Values)-1]), 2)
	if hi <= lo {
		return []float64{1}, lo, hi
	}
	mass = make([]float64, n)
	before := cdf(t, lo-1e-9)
	mass[0] = before
	for i := range mass {
		edge := lo * math.Pow(hi/lo, float64(i+1)/float64(n))
		now := cdf(t, edge)
		mass[i] += now - before
		before = now
	}
	return mass, lo, hi
}

// cdf is the probability of at most x, linear between the points of the table.
func cdf(t *spec.Table, x float64) float64 {
	p := 0.0
	for i := range t.Values {
		v := float64(t.Values[i])
		if v <= x {
			p = float64(t.P[i])
			continue
		}
		if i > 0 && v > float64(t.Values[i-1]) {
			was := float64(t.Values[i-1])
			p += (float64(t.P[i]) - p) * max(x-was, 0) / (v - was)
		}
		break
	}
	return p
}

// Rates are the counts of the rate series in 1/s.
func Rates(r *spec.RateSeries) []float64 {
	if r == nil {
		return nil
	}
	out := make([]float64, len(r.Counts))
	for i, c := range r.Counts {
		width := float64(r.WidthS)
		if i == len(r.Counts)-1 && r.LastS > 0 {
			width = float64(r.LastS)
			if width < float64(r.WidthS)/2 {
				return out[:i] // too short to be a rate
			}
		}
		out[i] = float64(c) / width
	}
	return out
}
