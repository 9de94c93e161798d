package dist

import (
	"math"
	"math/rand/v2"
)

// NegBin is the negative binomial on 0, 1, 2, …: P(k) = Γ(k+R)/(k!·Γ(R))·P^R·(1−P)^k
// with mean R(1−P)/P. It is discrete, so that LogL is its own and its KS is
// taken at the integers.
type NegBin struct{ R, P float64 }

// FitNegBin maximises the profile likelihood of R, the mean kept: P = R/(R+mean).
// log R is searched within ±8 by golden section, since the profile has one hump.
func FitNegBin(v Values) (NegBin, error) {
	if v.Len() == 0 {
		return NegBin{}, ErrEmpty
	}
	if v.X[0] < 0 {
		return NegBin{}, ErrNotPositive
	}
	mean := v.Mean()
	if sd := v.SD(); mean == 0 || !(float64(sd*sd) > mean) {
		return NegBin{}, ErrConstant // it is never less spread out than a Poisson
	}
	at := func(logR float64) float64 {
		r := math.Exp(logR)
		return NegBin{R: r, P: r / (r + mean)}.LogL(v)
	}
	const bound, golden = 8.0, 0.6180339887498949
	lo, hi := -bound, bound
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := at(a), at(b)
	for hi-lo > 1e-9 {
		if fa > fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = at(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = at(b)
		}
	}
	r := math.Exp((lo + hi) / 2)
	return NegBin{R: r, P: r / (r + mean)}, nil
}

// Name is negbin.
func (NegBin) Name() string { return "negbin" }

// Params are r and p.
func (f NegBin) Params() []Param { return []Param{{"r", f.R}, {"p", f.P}} }

// LogL is the log likelihood of the integers of v.
func (f NegBin) LogL(v Values) float64 {
	g0, _ := math.Lgamma(f.R)
	logP, logQ := math.Log(f.P), math.Log1p(-f.P)
	return v.sum(func(k float64) float64 {
		a, _ := math.Lgamma(k + f.R)
		b, _ := math.Lgamma(k + 1)
		return a - b - g0 + float64(f.R*logP) + float64(k*logQ)
	})
}

// CDF is P(X <= x), the regularised incomplete beta I_P(R, k+1) at k = floor(x).
func (f NegBin) CDF(x float64) float64 {
	if x < 0 {
		return 0
	}
	return betaInc(f.R, math.Floor(x)+1, f.P)
}

// Survival is P(X > x).
func (f NegBin) Survival(x float64) float64 {
	if x < 0 {
		return 1
	}
	return betaInc(math.Floor(x)+1, f.R, 1-f.P)
}

// Quantile is the smallest k with CDF(k) >= p.
func (f NegBin) Quantile(p float64) float64 {
	lo, hi := -1.0, 1.0
	for f.CDF(hi) < p && hi < 1e15 {
		hi *= 2
	}
	for hi-lo > 1 {
		if mid := math.Floor((lo + hi) / 2); f.CDF(mid) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// Rand draws one value.
func (f NegBin) Rand(r *rand.Rand) float64 { return f.Quantile(r.Float64()) }
