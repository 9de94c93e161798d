// Package dist fits and draws from probability distributions.
//
//	Values    a sample as ascending distinct values with counts
//	Family    a fitted distribution: LogL, CDF, Quantile, Rand
//	Families  the families we fit, each estimated by maximum likelihood
//	Table     an empirical quantile table, what traffic is generated from
//	KS, KSTwo, Wasserstein   distances
//
// The steps of a fit: NewValues (or FromInts), Positive, then each Fitter.
// A family is one file, its estimator and its functions, and a line in Families.
//
// Units: whatever the caller's values have; log likelihoods in nats. Quantiles
// are of type 1, the inverse of the empirical distribution.
//
// Non-goals: tests and p-values (at n >= 10000 every family is rejected, so KS
// is reported as an effect size).
//
// Definitions follow Johnson, Kotz, Balakrishnan, Continuous Univariate
// Distributions, vol. 1 (1994).
package dist

import (
	"errors"
	"math"
	"math/rand/v2"
)

// Param is a named parameter of a family.
type Param struct {
	Name  string
	Value float64
}

// Family is a distribution on x > 0 with its parameters set.
type Family interface {
	// Name is the family's name in lower case.
	Name() string
	// Params lists the parameters, always in the same order.
	Params() []Param
	// LogL is the log likelihood of the sample, by the continuous density.
	LogL(v Values) float64
	// CDF is P(X <= x).
	CDF(x float64) float64
	// Survival is P(X > x), which keeps its digits where CDF is near 1.
	Survival(x float64) float64
	// Quantile is the smallest x with CDF(x) >= p, for p within [0,1].
	Quantile(p float64) float64
	// Rand draws one value.
	Rand(r *rand.Rand) float64
}

// Fitter estimates one family by maximum likelihood. Fit needs values > 0.
type Fitter struct {
	Name string
	Fit  func(v Values) (Family, error)
}

// Families returns the families we fit, in the order of reports.
func Families() []Fitter {
	return []Fitter{
		{"lognormal", family(FitLognormal)},
		{"gamma", family(FitGamma)},
		{"weibull", family(FitWeibull)},
		{"exponential", family(FitExponential)},
		{"pareto1", family(FitPareto)},
		{"negbin", family(FitNegBin)},
		{"lnmix2", family(func(v Values) (LognormalMixture, error) { return FitLognormalMixtureFast(v, 2) })},
		{"lnmix3", family(func(v Values) (LognormalMixture, error) { return FitLognormalMixtureFast(v, 3) })},
		{"lnmix4", family(func(v Values) (LognormalMixture, error) { return FitLognormalMixtureFast(v, 4) })},
	}
}

func family[F Family](fit func(Values) (F, error)) func(Values) (Family, error) {
	return func(v Values) (Family, error) { return fit(v) }
}

// Why an estimate is absent.
var (
	ErrEmpty       = errors.New("no values to fit")
	ErrNotPositive = errors.New("values must be above zero to fit this family")
	ErrConstant    = errors.New("the estimate does not converge: the values are (nearly) all equal")
)

// minSpread is the standard deviation over the mean below which values count as
// constant: no length or gap is so even but by a limit or a coarse clock.
const minSpread = 1e-3

// BIC is k·ln n − 2·LogL with k parameters; the smaller, the better.
func BIC(f Family, v Values) float64 {
	return float64(float64(len(f.Params()))*math.Log(float64(v.Len()))) - 2*f.LogL(v)
}

// LogLDiscrete is the log likelihood of integers under f rounded to the nearest
// integer, Σ log(F(k+½)−F(k−½)). Prefer it to LogL when the median is below 50,
// where the density at an integer misleads.
func LogLDiscrete(f Family, v Values) float64 {
	var sum float64
	for i, x := range v.X {
		p := f.CDF(x+0.5) - f.CDF(x-0.5)
		if f.CDF(x) > 0.5 {
			p = f.Survival(x-0.5) - f.Survival(x+0.5)
		}
		sum += float64(float64(v.N[i]) * math.Log(math.Max(p, math.SmallestNonzeroFloat64)))
	}
	return sum
}

// Label words a KS distance as an effect size: good (at most 0.02), usable for
// capacity work (at most 0.05), or descriptive only.
func Label(ks float64) string {
	switch {
	case ks <= 0.02:
		return "good"
	case ks <= 0.05:
		return "usable"
	}
	return "descriptive"
}

// ready refuses what no family can be fitted to.
func ready(v Values) error {
	if v.Len() == 0 {
		return ErrEmpty
	}
	if v.X[0] <= 0 {
		return ErrNotPositive
	}
	return nil
}
