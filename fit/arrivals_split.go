package fit

import "math"

// SplitStep is the dispersion of counts when bins of ParentUS are cut into M
// children: 0 for Poisson inside the parent, 1 when one child has everything.
// NullSD is its standard deviation under Poisson; Pairs is Σn(n−1) of parents.
type SplitStep struct {
	ParentUS, ChildUS int64
	M                 int64
	Pairs             int64
	Rho               Stat
	NullSD            Stat
}

// SplitChain are the widths from a minute down, in µs, each a multiple of the
// next: 60, 30, 15, 5, 1, 0.5 … 0.015625 s.
func SplitChain() []int64 {
	return []int64{60 * second, 30 * second, 15 * second, 5 * second, second,
		500_000, 250_000, 125_000, 62_500, 31_250, 15_625}
}

// SplitRho measures the split dispersion along a chain of widths, over the
// complete bins of the widest from the first arrival:
//
//	ρ(W→W/m) = (m·ΣΣ l(l−1) / Σ n(n−1) − 1)/(m−1)
//
// with n arrivals in a parent and l in a child, the moment estimator of the
// Dirichlet-multinomial intra-class correlation. The parent's count is given,
// so slow drift cannot enter; the null sd is √(2/((m−1)Σn(n−1))).
func SplitRho(times []int64, chain []int64, clock Resolution) []SplitStep {
	if len(times) == 0 || len(chain) < 2 {
		return nil
	}
	end := (times[len(times)-1] - times[0]) / chain[0] * chain[0]
	var out []SplitStep
	parents := pairs(times, chain[0], end)
	for i, child := range chain[1:] {
		below := pairs(times, child, end)
		s := splitStep(chain[i], child, parents, below)
		why := clock.hides(child)
		s.Rho, s.NullSD = s.Rho.unless(why), s.NullSD.unless(why)
		out = append(out, s)
		parents = below
	}
	return out
}

func splitStep(parent, child, above, below int64) SplitStep {
	s := SplitStep{ParentUS: parent, ChildUS: child, M: parent / child, Pairs: above}
	if above == 0 || s.M < 2 {
		s.Rho = absent("no two arrivals share a bin of the wider kind")
		s.NullSD = s.Rho
		return s
	}
	m, p := float64(s.M), float64(above)
	s.Rho = value((float64(m*float64(below))/p - 1) / (m - 1))
	s.NullSD = value(math.Sqrt(2 / float64((m-1)*p)))
	return s
}

// pairs is Σn(n−1) over bins of width, for arrivals less than end µs from the
// first.
func pairs(times []int64, width, end int64) int64 {
	var sum, n int64
	edge := width
	for _, t := range times {
		t -= times[0]
		if t >= end {
			break
		}
		if t >= edge {
			sum, n = sum+n*(n-1), 0
			edge = (t/width + 1) * width
		}
		n++
	}
	return sum + n*(n-1)
}
