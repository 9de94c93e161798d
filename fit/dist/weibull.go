package dist

import (
	"math"
	"math/rand/v2"
)

// Weibull has P(X > x) = exp(−(x/Scale)^Shape).
type Weibull struct{ Shape, Scale float64 }

// FitWeibull finds the shape as the root of the profile likelihood.
func FitWeibull(v Values) (Weibull, error) {
	if err := ready(v); err != nil {
		return Weibull{}, err
	}
	p := newProfile(v)
	k, err := p.root()
	if err != nil {
		return Weibull{}, err
	}
	s0, _, _ := p.sums(k)
	return Weibull{Shape: k, Scale: p.max * math.Pow(s0/p.n, 1/k)}, nil
}

// profile holds y = log(x/max), so that powers of x/max cannot overflow.
type profile struct {
	y, w         []float64
	n, max, mean float64 // mean of y
	sd           float64
}

func newProfile(v Values) profile {
	p := profile{n: float64(v.Len()), max: v.X[len(v.X)-1]}
	p.y, p.w = make([]float64, len(v.X)), make([]float64, len(v.X))
	top := math.Log(p.max)
	for i, x := range v.X {
		p.y[i], p.w[i] = math.Log(x)-top, float64(v.N[i])
		p.mean += float64(p.w[i] * p.y[i])
	}
	p.mean /= p.n
	for i, y := range p.y {
		p.sd += float64(p.w[i] * float64((y-p.mean)*(y-p.mean)))
	}
	p.sd = math.Sqrt(p.sd / p.n)
	return p
}

// sums returns Σe^{ky}, Σy·e^{ky} and Σy²·e^{ky}.
func (p profile) sums(k float64) (s0, s1, s2 float64) {
	for i, y := range p.y {
		e := float64(p.w[i] * math.Exp(k*y))
		s0 += e
		s1 += float64(e * y)
		s2 += float64(float64(e*y) * y)
	}
	return s0, s1, s2
}

// root solves Σy·e^{ky}/Σe^{ky} − 1/k − mean y = 0. The left side rises in k,
// so Newton's steps are kept inside a bracket that shrinks.
func (p profile) root() (float64, error) {
	if !(p.sd > minSpread) {
		return 0, ErrConstant
	}
	// The log of a Weibull has standard deviation π/(√6·k).
	k := math.Pi / (math.Sqrt(6) * p.sd)
	lo, hi := 0.0, math.Inf(1)
	for range 200 {
		s0, s1, s2 := p.sums(k)
		m := s1 / s0
		g := m - 1/k - p.mean
		if g > 0 {
			hi = k
		} else {
			lo = k
		}
		next := k - g/(s2/s0-float64(m*m)+1/float64(k*k))
		if !(next > lo && next < hi) {
			next = inside(lo, hi)
		}
		if math.Abs(next-k) <= 1e-13*k {
			return next, nil
		}
		k = next
	}
	return k, nil
}

// inside returns a point between lo and hi, which may be infinite.
func inside(lo, hi float64) float64 {
	if math.IsInf(hi, 1) {
		return 2 * lo
	}
	return (lo + hi) / 2
}

// Name is weibull.
func (Weibull) Name() string { return "weibull" }

// Params are shape and scale.
func (f Weibull) Params() []Param { return []Param{{"shape", f.Shape}, {"scale", f.Scale}} }

// LogL is the log likelihood of v.
func (f Weibull) LogL(v Values) float64 {
	n := float64(v.Len())
	powers := v.sum(func(x float64) float64 { return math.Pow(x/f.Scale, f.Shape) })
	return float64(n*(math.Log(f.Shape)-float64(f.Shape*math.Log(f.Scale)))) +
		float64((f.Shape-1)*v.sum(math.Log)) - powers
}

// CDF is P(X <= x).
func (f Weibull) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return -math.Expm1(-math.Pow(x/f.Scale, f.Shape))
}

// Survival is P(X > x).
func (f Weibull) Survival(x float64) float64 {
	if x <= 0 {
		return 1
	}
	return math.Exp(-math.Pow(x/f.Scale, f.Shape))
}

// Quantile inverts CDF.
func (f Weibull) Quantile(p float64) float64 {
	return f.Scale * math.Pow(-math.Log1p(-p), 1/f.Shape)
}

// Rand draws one value.
func (f Weibull) Rand(r *rand.Rand) float64 {
	return f.Scale * math.Pow(r.ExpFloat64(), 1/f.Shape)
}
