package dist

import (
	"math"
	"math/rand/v2"
)

// Pareto is of the first kind: P(X > x) = (Min/x)^Alpha for x >= Min.
type Pareto struct{ Min, Alpha float64 }

// FitPareto takes the smallest value for Min; then Alpha = n/Σ log(x/Min).
func FitPareto(v Values) (Pareto, error) {
	if err := ready(v); err != nil {
		return Pareto{}, err
	}
	least := v.X[0]
	sum := v.sum(func(x float64) float64 { return math.Log(x / least) })
	if !(sum > 0) {
		return Pareto{}, ErrConstant
	}
	if math.IsInf(sum, 0) {
		return Pareto{}, ErrConstant
	}
	return Pareto{Min: least, Alpha: float64(v.Len()) / sum}, nil
}

// Name is pareto1, the first kind.
func (Pareto) Name() string { return "pareto1" }

// Params are xm, the smallest value, and alpha.
func (f Pareto) Params() []Param { return []Param{{"xm", f.Min}, {"alpha", f.Alpha}} }

// LogL is the log likelihood of v.
func (f Pareto) LogL(v Values) float64 {
	n := float64(v.Len())
	return float64(n*(math.Log(f.Alpha)+float64(f.Alpha*math.Log(f.Min)))) - float64((f.Alpha+1)*v.sum(math.Log))
}

// CDF is P(X <= x).
func (f Pareto) CDF(x float64) float64 { return 1 - f.Survival(x) }

// Survival is P(X > x).
func (f Pareto) Survival(x float64) float64 {
	if x <= f.Min {
		return 1
	}
	return math.Pow(f.Min/x, f.Alpha)
}

// Quantile inverts CDF.
func (f Pareto) Quantile(p float64) float64 { return f.Min * math.Pow(1-p, -1/f.Alpha) }

// Rand draws one value.
func (f Pareto) Rand(r *rand.Rand) float64 { return f.Quantile(r.Float64()) }
