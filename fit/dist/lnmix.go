package dist

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// LognormalMixture is a mixture of lognormals, components by ascending mu.
type LognormalMixture struct {
	Weight []float64
	Part   []Lognormal
}

// minSigma keeps a component from collapsing onto a value that repeats, where
// the likelihood would be infinite.
const minSigma = 0.02

// maxEM and tolEM end the expectation-maximization.
const (
	maxEM  = 5000
	fastEM = 300
	tolEM  = 1e-10
)

// FitLognormalMixture fits k components to log x by EM. It starts without chance:
// component j stands at the (j+½)/k quantile of log x, all with equal weights
// and the same sigma, and it ends when the log likelihood gains less than 1e-10
// of itself.
func FitLognormalMixture(v Values, k int) (LognormalMixture, error) {
	return fitMixture(v, k, maxEM, tolEM)
}

// FitLognormalMixtureFast is FitLognormalMixture on values of three digits, and
// ends at a gain of 1e-8 or after 300 rounds: for reports, where EM on many distinct values would
// take half a minute.
func FitLognormalMixtureFast(v Values, k int) (LognormalMixture, error) {
	return fitMixture(v.threeDigits(), k, fastEM, 1e-8)
}

// threeDigits rounds values to three significant digits.
func (v Values) threeDigits() Values {
	var out Values
	for i, x := range v.X {
		r := x
		if x > 0 {
			unit := math.Pow(10, math.Floor(math.Log10(x))-2)
			r = math.Round(x/unit) * unit
		}
		out.add(r, v.N[i])
	}
	return out
}

func fitMixture(v Values, k, rounds int, tol float64) (LognormalMixture, error) {
	if err := ready(v); err != nil {
		return LognormalMixture{}, err
	}
	if len(v.X) < 2*k {
		return LognormalMixture{}, ErrConstant
	}
	e := newEM(v, k)
	last := math.Inf(-1)
	for range rounds {
		logL := e.step()
		if math.IsNaN(logL) {
			return LognormalMixture{}, ErrConstant
		}
		if math.Abs(logL-last) < tol*math.Abs(logL) {
			break
		}
		last = logL
	}
	return e.mixture(), nil
}

// em holds one normal mixture on y = log x.
type em struct {
	y, n          []float64
	total         float64
	w, mu, sigma  []float64
	r, r0, r1, r2 []float64 // responsibilities of one value; their sums
}

func newEM(v Values, k int) *em {
	e := &em{total: float64(v.Len())}
	var mean, ss float64
	for i, x := range v.X {
		e.y, e.n = append(e.y, math.Log(x)), append(e.n, float64(v.N[i]))
		mean += float64(e.n[i] * e.y[i])
	}
	mean /= e.total
	for i, y := range e.y {
		ss += float64(e.n[i] * float64((y-mean)*(y-mean)))
	}
	sd := math.Sqrt(ss / e.total)
	for j := range k {
		e.w = append(e.w, 1/float64(k))
		e.mu = append(e.mu, v.logQuantile7((float64(j)+0.5)/float64(k)))
		e.sigma = append(e.sigma, max(sd/float64(k), minSigma))
	}
	e.r, e.r0, e.r1, e.r2 = make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)
	return e
}

// logQuantile7 is the type-7 quantile of log x, linear between order statistics:
// only the start of EM uses it.
func (v Values) logQuantile7(p float64) float64 {
	at := float64(p * float64(v.total-1))
	lo := math.Floor(at)
	a, b := math.Log(v.atRank(int64(lo))), math.Log(v.atRank(min(int64(lo)+1, v.total-1)))
	return a + float64((at-lo)*(b-a))
}

// atRank is the value of rank k from 0.
func (v Values) atRank(k int64) float64 {
	for i, n := range v.N {
		if k < n {
			return v.X[i]
		}
		k -= n
	}
	return v.X[len(v.X)-1]
}

// step does one round and returns the log likelihood of y before it.
func (e *em) step() float64 {
	clear(e.r0)
	clear(e.r1)
	clear(e.r2)
	k := len(e.w)
	logW, logS := make([]float64, k), make([]float64, k)
	for j := range k {
		logW[j], logS[j] = math.Log(e.w[j]), math.Log(e.sigma[j])
	}
	var logL float64
	for i, y := range e.y {
		top := math.Inf(-1)
		for j := range k {
			z := (y - e.mu[j]) / e.sigma[j]
			e.r[j] = logW[j] - logS[j] - float64(z*z)/2 - logRoot2Pi
			top = math.Max(top, e.r[j])
		}
		var sum float64
		for j := range k {
			e.r[j] = math.Exp(e.r[j] - top)
			sum += e.r[j]
		}
		logL += float64(e.n[i] * (top + math.Log(sum)))
		for j := range k {
			m := float64(e.n[i] * e.r[j] / sum)
			e.r0[j] += m
			e.r1[j] += float64(m * y)
		}
	}
	for j := range k {
		e.w[j] = e.r0[j] / e.total
	}
	e.spread(logW, logS)
	return logL
}

// spread sets means and sigmas; the second pass, around the new means, keeps the
// digits of a narrow component.
func (e *em) spread(logW, logS []float64) {
	k := len(e.w)
	mean := make([]float64, k)
	for j := range k {
		mean[j] = e.r1[j] / e.r0[j]
	}
	for i, y := range e.y {
		top := math.Inf(-1)
		for j := range k {
			z := (y - e.mu[j]) / e.sigma[j]
			e.r[j] = logW[j] - logS[j] - float64(z*z)/2
			top = math.Max(top, e.r[j])
		}
		var sum float64
		for j := range k {
			e.r[j] = math.Exp(e.r[j] - top)
			sum += e.r[j]
		}
		for j := range k {
			d := y - mean[j]
			e.r2[j] += float64(float64(e.n[i]*e.r[j]/sum) * float64(d*d))
		}
	}
	for j := range k {
		e.mu[j] = mean[j]
		e.sigma[j] = max(math.Sqrt(e.r2[j]/e.r0[j]), minSigma)
	}
}

func (e *em) mixture() LognormalMixture {
	order := make([]int, len(e.w))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if e.mu[a] < e.mu[b] {
			return -1
		}
		return 1
	})
	var f LognormalMixture
	for _, j := range order {
		f.Weight = append(f.Weight, e.w[j])
		f.Part = append(f.Part, Lognormal{Mu: e.mu[j], Sigma: e.sigma[j]})
	}
	return f
}

const logRoot2Pi = 0.91893853320467274178

// Name is lnmix with the number of components.
func (f LognormalMixture) Name() string { return fmt.Sprintf("lnmix%d", len(f.Part)) }

// Params are weight, mu and sigma of each component; the last weight follows
// from the others, so it is not counted by BIC.
func (f LognormalMixture) Params() []Param {
	var out []Param
	for j, p := range f.Part {
		if j < len(f.Part)-1 {
			out = append(out, Param{fmt.Sprintf("w%d", j+1), f.Weight[j]})
		}
		out = append(out, Param{fmt.Sprintf("mu%d", j+1), p.Mu}, Param{fmt.Sprintf("sigma%d", j+1), p.Sigma})
	}
	return out
}

// LogL is the log likelihood of v.
func (f LognormalMixture) LogL(v Values) float64 {
	return v.sum(func(x float64) float64 {
		y := math.Log(x)
		var sum float64
		for j, p := range f.Part {
			z := (y - p.Mu) / p.Sigma
			sum += float64(f.Weight[j] / p.Sigma * math.Exp(-float64(z*z)/2))
		}
		return math.Log(math.Max(sum, math.SmallestNonzeroFloat64)) - logRoot2Pi - y
	})
}

// CDF is P(X <= x).
func (f LognormalMixture) CDF(x float64) float64 {
	var sum float64
	for j, p := range f.Part {
		sum += float64(f.Weight[j] * p.CDF(x))
	}
	return sum
}

// Survival is P(X > x).
func (f LognormalMixture) Survival(x float64) float64 {
	var sum float64
	for j, p := range f.Part {
		sum += float64(f.Weight[j] * p.Survival(x))
	}
	return sum
}

// Quantile inverts CDF by bisection.
func (f LognormalMixture) Quantile(p float64) float64 {
	lo, hi := math.Inf(1), 0.0
	for _, part := range f.Part {
		q := part.Quantile(p)
		lo, hi = math.Min(lo, q), math.Max(hi, q)
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if f.CDF(mid) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// Rand draws one value.
func (f LognormalMixture) Rand(r *rand.Rand) float64 {
	u := r.Float64()
	for j := range f.Part {
		if u -= f.Weight[j]; u < 0 {
			return f.Part[j].Rand(r)
		}
	}
	return f.Part[len(f.Part)-1].Rand(r)
}
