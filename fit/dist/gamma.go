package dist

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Gamma has shape Shape (the k of k·θ) and scale Scale.
type Gamma struct{ Shape, Scale float64 }

// FitGamma solves log k − ψ(k) = log mean − mean log for the shape.
func FitGamma(v Values) (Gamma, error) {
	if err := ready(v); err != nil {
		return Gamma{}, err
	}
	mean := v.Mean()
	k, err := gammaShape(math.Log(mean) - v.meanLog())
	if err != nil {
		return Gamma{}, err
	}
	return Gamma{Shape: k, Scale: mean / k}, nil
}

// gammaShape finds k from s by Newton's method on 1/k, which converges from
// this start for every s > 0 (Minka 2002, "Estimating a Gamma distribution").
func gammaShape(s float64) (float64, error) {
	// The spread of a gamma is 1/√k, and s nears 1/(2k) as k grows.
	if !(s > minSpread*minSpread/2) {
		return 0, ErrConstant
	}
	k := (3 - s + math.Sqrt(float64((s-3)*(s-3))+24*s)) / (12 * s)
	for range 50 {
		step := (math.Log(k) - mathext.Digamma(k) - s) / float64(k*k*(1/k-mathext.Zeta(2, k)))
		next := 1 / (1/k + step)
		if !(next > 0) || math.IsInf(next, 1) {
			return 0, ErrConstant
		}
		if math.Abs(next-k) <= 1e-13*k {
			return next, nil
		}
		k = next
	}
	return k, nil
}

// Name is gamma.
func (Gamma) Name() string { return "gamma" }

// Params are shape and scale.
func (f Gamma) Params() []Param { return []Param{{"shape", f.Shape}, {"scale", f.Scale}} }

// LogL is the log likelihood of v.
func (f Gamma) LogL(v Values) float64 {
	n := float64(v.Len())
	lg, _ := math.Lgamma(f.Shape)
	return float64((f.Shape-1)*v.sum(math.Log)) - v.Sum()/f.Scale -
		float64(n*(lg+float64(f.Shape*math.Log(f.Scale))))
}

// CDF is P(X <= x).
func (f Gamma) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return mathext.GammaIncReg(f.Shape, x/f.Scale)
}

// Survival is P(X > x).
func (f Gamma) Survival(x float64) float64 {
	if x <= 0 {
		return 1
	}
	return mathext.GammaIncRegComp(f.Shape, x/f.Scale)
}

// Quantile inverts CDF. The library's inverse has few digits at the lower end,
// so Newton's method in log x makes them up.
func (f Gamma) Quantile(p float64) float64 {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return math.Inf(1)
	}
	x := mathext.GammaIncRegInv(f.Shape, p)
	lg, _ := math.Lgamma(f.Shape)
	for range 4 {
		slope := math.Exp(float64(f.Shape*math.Log(x)) - x - lg)
		step := (mathext.GammaIncReg(f.Shape, x) - p) / slope
		if !(math.Abs(step) < 1) {
			break // too flat to gain from
		}
		x = float64(x * math.Exp(-step))
	}
	return float64(f.Scale * x)
}

// Rand draws one value.
func (f Gamma) Rand(r *rand.Rand) float64 {
	return distuv.Gamma{Alpha: f.Shape, Beta: 1 / f.Scale, Src: r}.Rand()
}
