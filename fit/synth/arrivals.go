package synth

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"reprise/fit/dist"
	"reprise/trace/spec"
)

// arrivals draws arrival times in µs, ascending.
func arrivals(sp *spec.Spec, o Options) ([]int64, error) {
	rng := stream(o.Seed, streamArrivals)
	a := &sp.Workload.Arrivals
	if a.Process == spec.ProcessCounts {
		return fromCounts(a, o.For, rng)
	}
	rate := float64(a.Rate.Value)
	if a.Process == spec.ProcessUnknown || rate == 0 {
		// A log without times says nothing of the rate; the question may.
		rate = float64(sp.Question.Load.Value)
	}
	if rate <= 0 {
		return nil, errors.New("the spec has no arrival rate: agree on a load first (reprise agree)")
	}
	length := o.For
	if length == 0 {
		length = defaultFor
	}
	return poisson(rate, length, rng)
}

// poisson draws a Poisson process of rate 1/s.
func poisson(rate float64, length time.Duration, rng *rand.Rand) ([]int64, error) {
	if rate*length.Seconds() > maxRequests {
		return nil, errTooMany
	}
	var out []int64
	for at := rng.ExpFloat64() / rate; at < length.Seconds(); at += rng.ExpFloat64() / rate {
		out = append(out, int64(at*1e6))
	}
	return out, nil
}

var errTooMany = errors.New("the trace would have over 50 million requests: ask for a shorter one")

// fromCounts keeps the counts of the rate series and splits each bin down the
// chain of dispersions; below the finest step arrivals are uniform. Past its
// end the series begins anew.
func fromCounts(a *spec.Arrivals, length time.Duration, rng *rand.Rand) ([]int64, error) {
	s := a.Rates
	width := us(s.WidthS)
	span := int64(len(s.Counts)-1)*width + us(s.LastS)
	if span <= 0 || width <= 0 {
		return nil, errors.New("the rate series covers no time")
	}
	end := length.Microseconds()
	if end == 0 {
		end = span
	}
	var total int64
	for _, c := range s.Counts {
		total += c
	}
	if float64(total)*math.Ceil(float64(end)/float64(span)) > maxRequests {
		return nil, errTooMany
	}
	var steps []spec.SplitStep
	if a.Split != nil {
		steps = a.Split.Steps
	}
	var out []int64
	for from := int64(0); from < end; from += span {
		for i, n := range s.Counts {
			at := int64(i) * width
			bin := min(width, span-at)
			out = place(out, from+at, bin, n, steps, rng)
		}
	}
	slices.Sort(out)
	i, _ := slices.BinarySearch(out, end)
	return out[:i], nil
}

// place puts n arrivals into [at, at+width), splitting along the steps whose
// parent the bin is. A bin that the trace's end cuts short takes the share of
// children that lie inside.
func place(out []int64, at, width, n int64, steps []spec.SplitStep, rng *rand.Rand) []int64 {
	for len(steps) > 0 && us(steps[0].ParentS) > width {
		steps = steps[1:]
	}
	if n == 0 || width <= 0 {
		return out
	}
	if len(steps) == 0 || us(steps[0].ChildS) < 1 || us(steps[0].ParentS) < width {
		// The finest scale, or a partial bin whose width no step has.
		for range n {
			out = append(out, at+rng.Int64N(width))
		}
		return out
	}
	child := us(steps[0].ChildS)
	m := (width + child - 1) / child
	for i, k := range split(n, m, float64(steps[0].Rho), rng) {
		from := at + int64(i)*child
		out = place(out, from, min(child, at+width-from), k, steps[1:], rng)
	}
	return out
}

// split draws how n arrivals fall into m children with intra-class correlation
// rho: shares from a symmetric Dirichlet with a = (1-rho)/(m rho), then a
// multinomial (statistics of split dispersion, clipped as the estimator is
// noisy and small shapes degenerate).
func split(n, m int64, rho float64, rng *rand.Rand) []int64 {
	const minRho, maxRho = 1e-6, 0.98
	cum := make([]float64, m)
	if rho < minRho {
		for i := range cum {
			cum[i] = float64(i+1) / float64(m)
		}
	} else {
		rho = min(rho, maxRho)
		dirichlet(cum, (1-rho)/(float64(m)*rho), rng)
	}
	out := make([]int64, m)
	for range n {
		i, _ := slices.BinarySearch(cum, rng.Float64())
		out[min(int64(i), m-1)]++
	}
	return out
}

// dirichlet fills cum with the running sums of a symmetric Dirichlet draw. It
// works on logarithms, since gamma draws of small shape underflow:
// Gamma(a) = Gamma(a+1)·U^(1/a).
func dirichlet(cum []float64, a float64, rng *rand.Rand) {
	top := math.Inf(-1)
	for i := range cum {
		g := dist.Gamma{Shape: a + 1, Scale: 1}.Rand(rng)
		cum[i] = math.Log(g) + math.Log(1-rng.Float64())/a
		top = max(top, cum[i])
	}
	var sum float64
	for i := range cum {
		sum += math.Exp(cum[i] - top)
		cum[i] = sum
	}
	for i := range cum {
		cum[i] /= sum
	}
}

func us(s spec.Num) int64 { return int64(math.Round(float64(s) * 1e6)) }
