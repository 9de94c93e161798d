package dist

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// FitCensored estimates a family by maximum likelihood of values, of which some
// are only known to exceed what is in cut: Σ log f over whole plus Σ log S over
// cut. It knows lognormal, gamma, weibull and exponential.
func FitCensored(name string, whole, cut Values) (Family, error) {
	if err := ready(whole); err != nil {
		return nil, err
	}
	if cut.Len() > 0 && cut.X[0] <= 0 {
		return nil, ErrNotPositive
	}
	if name == "exponential" {
		// n over the time at risk, as closed as without censoring.
		return Exponential{Mean: (whole.Sum() + cut.Sum()) / float64(whole.Len())}, nil
	}
	build := map[string]func(a, b float64) Family{
		"lognormal": func(a, b float64) Family { return Lognormal{Mu: a, Sigma: math.Exp(b)} },
		"gamma":     func(a, b float64) Family { return Gamma{Shape: math.Exp(a), Scale: math.Exp(b)} },
		"weibull":   func(a, b float64) Family { return Weibull{Shape: math.Exp(a), Scale: math.Exp(b)} },
	}[name]
	if build == nil {
		return nil, fmt.Errorf("%s has no censored estimate", name)
	}
	all := Merge(whole, cut)
	start := []float64{0, math.Log(all.Mean())}
	if name == "lognormal" {
		start = []float64{all.meanLog(), 0}
	}
	p := optimize.Problem{Func: func(x []float64) float64 {
		l := CensoredLogL(build(x[0], x[1]), whole, cut)
		if math.IsNaN(l) || math.IsInf(l, 0) {
			return math.MaxFloat64
		}
		return -l
	}}
	r, err := optimize.Minimize(p, start, &optimize.Settings{FuncEvaluations: 2000, Converger: &optimize.FunctionConverge{Absolute: 1e-9, Iterations: 60}}, &optimize.NelderMead{})
	if r == nil || r.F == math.MaxFloat64 || err != nil && r.Status == 0 {
		return nil, ErrConstant
	}
	return build(r.X[0], r.X[1]), nil
}

// CensoredLogL is the log likelihood of whole values and of cut ones.
func CensoredLogL(f Family, whole, cut Values) float64 {
	l := f.LogL(whole)
	if cut.Len() > 0 {
		l += cut.sum(func(x float64) float64 { return math.Log(math.Max(f.Survival(x), math.SmallestNonzeroFloat64)) })
	}
	return l
}

// KSCensored is the distance sup|F−G| from the estimate F of Kaplan and Meier, up
// to the largest whole value: behind it nothing is known. NaN without whole values.
func KSCensored(whole, cut Values, cdf func(float64) float64) float64 {
	if whole.Len() == 0 {
		return math.NaN()
	}
	var d float64
	atRisk, j, survive := whole.Len()+cut.Len(), 0, 1.0
	for i, x := range whole.X {
		for ; j < len(cut.X) && cut.X[j] < x; j++ {
			atRisk -= cut.N[j]
		}
		g := cdf(x)
		d = math.Max(d, g-(1-survive))
		survive *= 1 - float64(whole.N[i])/float64(atRisk)
		d = math.Max(d, 1-survive-g)
		atRisk -= whole.N[i]
	}
	return d
}

// Without returns v less the values of w, which are all in v.
func (v Values) Without(w Values) Values {
	var out Values
	for i, x := range v.X {
		if n := v.N[i] - w.Count(x); n > 0 {
			out.add(x, n)
		}
	}
	return out
}
