package dist

import (
	"math"
	"math/rand/v2"
)

// Exponential has mean Mean.
type Exponential struct{ Mean float64 }

// FitExponential takes the arithmetic mean.
func FitExponential(v Values) (Exponential, error) {
	if err := ready(v); err != nil {
		return Exponential{}, err
	}
	return Exponential{Mean: v.Mean()}, nil
}

// Name is exponential.
func (Exponential) Name() string { return "exponential" }

// Params is the mean.
func (f Exponential) Params() []Param { return []Param{{"mean", f.Mean}} }

// LogL is the log likelihood of v.
func (f Exponential) LogL(v Values) float64 {
	return -float64(float64(v.Len())*math.Log(f.Mean)) - v.Sum()/f.Mean
}

// CDF is P(X <= x).
func (f Exponential) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return -math.Expm1(-x / f.Mean)
}

// Survival is P(X > x).
func (f Exponential) Survival(x float64) float64 { return math.Exp(-math.Max(x, 0) / f.Mean) }

// Quantile inverts CDF.
func (f Exponential) Quantile(p float64) float64 { return -f.Mean * math.Log1p(-p) }

// Rand draws one value.
func (f Exponential) Rand(r *rand.Rand) float64 { return f.Mean * r.ExpFloat64() }
