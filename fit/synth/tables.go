package synth

import (
	"math"
	"slices"
	"sort"

	"reprise/fit/dist"
)

// Between its points a quantile table is straight, but a heavy tail is hollow:
// straight lines put the mean of Azure's code completions 2 % too high. From
// tailFrom on the lines are bent, all by one power, so that the mean comes out
// as the spec has it; a power beyond the limits means that mean and table do
// not belong together (a profile cut the table), and then it stops there.
const (
	tailFrom           = 0.9
	minPower, maxPower = 0.5, 4
	bendParts          = 8
)

// bend returns t with its tail bent to a mean.
func bend(t dist.Table, mean float64) dist.Table {
	var rest, low, rise float64
	for i := 1; i < len(t.P); i++ {
		w, d := t.P[i]-t.P[i-1], t.X[i]-t.X[i-1]
		if t.P[i-1] < tailFrom {
			rest += float64(w * (t.X[i-1] + d/2))
		} else {
			low += float64(w * t.X[i-1])
			rise += float64(w * d)
		}
	}
	if rise <= 0 {
		return t
	}
	// The mean of x0 + d·f^c over f is x0 + d/(c+1).
	power := float64(maxPower)
	if over := mean - rest - low; over > 0 {
		power = min(max(rise/over-1, minPower), maxPower)
	}
	out := dist.Table{P: t.P[:1:1], X: t.X[:1:1]}
	for i := 1; i < len(t.P); i++ {
		if t.P[i-1] >= tailFrom && t.X[i] > t.X[i-1] {
			for k := 1; k < bendParts; k++ {
				f := float64(k) / bendParts
				out.P = append(out.P, t.P[i-1]+float64(f*(t.P[i]-t.P[i-1])))
				out.X = append(out.X, t.X[i-1]+float64(math.Pow(f, power)*(t.X[i]-t.X[i-1])))
			}
		}
		out.P, out.X = append(out.P, t.P[i]), append(out.X, t.X[i])
	}
	return out
}

// mixture is the distribution of a weighted mixture of tables: at the values x
// it jumps from lo to hi, and between them it is straight.
type mixture struct{ x, lo, hi []float64 }

func mixed(tables []dist.Table, weights []float64) mixture {
	var m mixture
	var total float64
	for i, t := range tables {
		m.x = append(m.x, t.X...)
		total += weights[i]
	}
	slices.Sort(m.x)
	m.x = slices.Compact(m.x)
	m.lo, m.hi = make([]float64, len(m.x)), make([]float64, len(m.x))
	for i, t := range tables {
		w := weights[i] / total
		for k, x := range m.x {
			lo, hi := ranks(t, x)
			m.lo[k] += float64(w * lo)
			m.hi[k] += float64(w * hi)
		}
	}
	return m
}

// ranks are the least and the largest probability at which a table is at x.
func ranks(t dist.Table, x float64) (lo, hi float64) {
	i := sort.SearchFloat64s(t.X, x)
	switch {
	case i == len(t.X):
		return 1, 1
	case t.X[i] == x:
		j := i
		for j+1 < len(t.X) && t.X[j+1] == x {
			j++
		}
		return t.P[i], t.P[j]
	case i == 0:
		return 0, 0
	}
	p := t.P[i-1] + float64((x-t.X[i-1])/(t.X[i]-t.X[i-1])*(t.P[i]-t.P[i-1]))
	return p, p
}

// rank is the probability of a value; at a jump tie picks one within it.
func (m mixture) rank(x, tie float64) float64 {
	i := sort.SearchFloat64s(m.x, x)
	switch {
	case i == len(m.x):
		return 1
	case m.x[i] == x:
		return m.lo[i] + float64(tie*(m.hi[i]-m.lo[i]))
	case i == 0:
		return 0
	}
	f := (x - m.x[i-1]) / (m.x[i] - m.x[i-1])
	return m.hi[i-1] + float64(f*(m.lo[i]-m.hi[i-1]))
}
