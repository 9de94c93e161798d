package dist

import (
	"math"
	"math/rand/v2"
)

// Lognormal is exp of a normal with mean Mu and standard deviation Sigma.
type Lognormal struct{ Mu, Sigma float64 }

// FitLognormal takes the mean and the 1/n standard deviation of log x.
func FitLognormal(v Values) (Lognormal, error) {
	if err := ready(v); err != nil {
		return Lognormal{}, err
	}
	f := Lognormal{Mu: v.meanLog()}
	f.Sigma = math.Sqrt(f.squares(v) / float64(v.Len()))
	if f.Sigma == 0 {
		return Lognormal{}, ErrConstant
	}
	return f, nil
}

// squares is Σ(log x − Mu)².
func (f Lognormal) squares(v Values) float64 {
	return v.sum(func(x float64) float64 { d := math.Log(x) - f.Mu; return float64(d * d) })
}

// Name is lognormal.
func (Lognormal) Name() string { return "lognormal" }

// Params are mu and sigma.
func (f Lognormal) Params() []Param { return []Param{{"mu", f.Mu}, {"sigma", f.Sigma}} }

// LogL is the log likelihood of v.
func (f Lognormal) LogL(v Values) float64 {
	n := float64(v.Len())
	logs := v.sum(math.Log)
	return -logs - float64(n*(math.Log(f.Sigma)+float64(0.5*math.Log(2*math.Pi)))) -
		f.squares(v)/(2*f.Sigma*f.Sigma)
}

// CDF is P(X <= x).
func (f Lognormal) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return 0.5 * math.Erfc(-(math.Log(x)-f.Mu)/(f.Sigma*math.Sqrt2))
}

// Survival is P(X > x).
func (f Lognormal) Survival(x float64) float64 {
	if x <= 0 {
		return 1
	}
	return 0.5 * math.Erfc((math.Log(x)-f.Mu)/(f.Sigma*math.Sqrt2))
}

// Quantile inverts CDF.
func (f Lognormal) Quantile(p float64) float64 {
	return math.Exp(f.Mu - float64(f.Sigma*math.Sqrt2*math.Erfcinv(2*p)))
}

// Rand draws one value.
func (f Lognormal) Rand(r *rand.Rand) float64 {
	return math.Exp(f.Mu + float64(f.Sigma*r.NormFloat64()))
}
