package dist

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/optimize"
)

// GPD is the generalised Pareto distribution of what exceeds Threshold:
// P(X > u+y | X > u) = (1 + Xi·y/Scale)^(−1/Xi), exponential at Xi = 0.
type GPD struct{ Threshold, Xi, Scale float64 }

// MinExceedances are needed for a tail to be told.
const MinExceedances = 200

var errTail = errors.New("fewer than 200 values lie above the 95th percentile")

// FitGPD fits the excesses over the 95th percentile by maximum likelihood. On
// tails with a cap the estimate is nonsense: look for a cap first.
func FitGPD(v Values) (GPD, error) {
	if err := ready(v); err != nil {
		return GPD{}, err
	}
	u := v.Quantile(0.95)
	over := v.above(u)
	if over.Len() < MinExceedances {
		return GPD{}, errTail
	}
	excess := Values{N: over.N, total: over.total}
	for _, x := range over.X {
		excess.X = append(excess.X, x-u)
	}
	mean := excess.Mean()
	p := optimize.Problem{Func: func(x []float64) float64 {
		l := GPD{Xi: x[0], Scale: math.Exp(x[1])}.LogL(excess)
		if math.IsNaN(l) || math.IsInf(l, 0) {
			return math.MaxFloat64
		}
		return -l
	}}
	best := math.Inf(1)
	out := GPD{}
	for _, start := range [][]float64{{0.1, math.Log(mean)}, {1, math.Log(mean / 2)}, {-0.1, math.Log(mean)}} {
		r, err := optimize.Minimize(p, start, &optimize.Settings{MajorIterations: 2000, FuncEvaluations: 4000}, &optimize.NelderMead{})
		if r != nil && r.F < best && (err == nil || r.Status != 0) {
			best, out = r.F, GPD{Threshold: u, Xi: r.X[0], Scale: math.Exp(r.X[1])}
		}
	}
	if math.IsInf(best, 1) || best == math.MaxFloat64 {
		return GPD{}, ErrConstant
	}
	return out, nil
}

// above are the values larger than u.
func (v Values) above(u float64) Values {
	var out Values
	for i, x := range v.X {
		if x > u {
			out.add(x, v.N[i])
		}
	}
	return out
}

// Name is gpd_tail_p95.
func (GPD) Name() string { return "gpd_tail_p95" }

// Params are threshold, xi and scale.
func (f GPD) Params() []Param {
	return []Param{{"threshold", f.Threshold}, {"xi", f.Xi}, {"scale", f.Scale}}
}

// LogL is the log likelihood of the values above Threshold.
func (f GPD) LogL(v Values) float64 {
	v = v.above(f.Threshold)
	n := float64(v.Len())
	if math.Abs(f.Xi) < 1e-9 {
		return -float64(n*math.Log(f.Scale)) - v.sum(func(x float64) float64 { return (x - f.Threshold) / f.Scale })
	}
	return -float64(n*math.Log(f.Scale)) - float64((1+1/f.Xi)*v.sum(func(x float64) float64 {
		return math.Log1p(f.Xi * (x - f.Threshold) / f.Scale)
	}))
}

// CDF is P(X <= x | X > Threshold).
func (f GPD) CDF(x float64) float64 { return 1 - f.Survival(x) }

// Survival is P(X > x | X > Threshold).
func (f GPD) Survival(x float64) float64 {
	y := (x - f.Threshold) / f.Scale
	switch {
	case y <= 0:
		return 1
	case math.Abs(f.Xi) < 1e-9:
		return math.Exp(-y)
	case 1+f.Xi*y <= 0:
		return 0
	}
	return math.Pow(1+f.Xi*y, -1/f.Xi)
}

// Quantile inverts CDF.
func (f GPD) Quantile(p float64) float64 {
	if math.Abs(f.Xi) < 1e-9 {
		return f.Threshold - f.Scale*math.Log1p(-p)
	}
	return f.Threshold + f.Scale/f.Xi*math.Expm1(-f.Xi*math.Log1p(-p))
}

// Rand draws one value above Threshold.
func (f GPD) Rand(r *rand.Rand) float64 { return f.Quantile(r.Float64()) }

// Tail are the values above the 95th percentile, which FitGPD describes.
func Tail(v Values) Values { return v.above(v.Quantile(0.95)) }
