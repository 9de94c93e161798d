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
	scale := o.Scale
	if scale == 0 {
		scale = 1
	}
	switch {
	case o.Variant != "" && o.InWeek:
		return nil, errors.New("a variant has one rate and no hours of the week: give one of the two")
	case o.Variant != "":
		return ofVariant(a, o, lengthOf(sp, o), scale, rng)
	case o.InWeek && a.Week == nil && slices.ContainsFunc(sp.Privacy.HeldBack, heldCalendar):
		return nil, errHeldWeek
	case o.InWeek:
		return ofWeek(a, o, scale, rng)
	case a.Process == spec.ProcessCounts:
		return fromCounts(scaled(a, scale, o.Redraw, rng), o.For, rng)
	}
	rate := scale * float64(a.Rate.Value)
	if a.Process == spec.ProcessUnknown || rate == 0 {
		// A log without times says nothing of the rate; the question may.
		rate = scale * float64(sp.Question.Load.Value)
	}
	if rate <= 0 {
		return nil, errors.New("the spec has no arrival rate: agree on a load first (reprise agree)")
	}
	return poisson(rate, lengthOf(sp, o), rng)
}

// lengthOf is how long a trace will be: what was asked for, else an hour of the
// week profile, else what the log covered, else a minute.
func lengthOf(sp *spec.Spec, o Options) time.Duration {
	a := &sp.Workload.Arrivals
	switch {
	case o.For > 0:
		return o.For
	case o.Job != "":
		for _, j := range sp.Workload.Jobs {
			if j.Name == o.Job {
				return duration(j.WindowS.Value)
			}
		}
	case o.InWeek:
		return time.Hour
	case o.Variant == "" && a.Process == spec.ProcessCounts && a.Rates != nil:
		return time.Duration(spanOf(a.Rates)) * time.Microsecond
	case a.Span != nil && a.Span.Value > 0:
		return duration(a.Span.Value)
	}
	return defaultFor
}

// duration of seconds, of those that a Duration holds.
func duration(s spec.Num) time.Duration {
	const most = 100 * 365 * 24 * time.Hour
	return time.Duration(min(float64(s), most.Seconds()) * float64(time.Second))
}

// spanOf is the time that a series covers, in µs.
func spanOf(s *spec.RateSeries) int64 {
	return int64(len(s.Counts)-1)*us(s.WidthS) + us(s.LastS)
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

var errTooMany = errors.New("the trace would have over 20 million requests: ask for a shorter one")

// fromCounts keeps the counts of the rate series and splits each bin down the
// chain of dispersions; below the finest step arrivals are uniform. Past its
// end the series begins anew.
func fromCounts(a *spec.Arrivals, length time.Duration, rng *rand.Rand) ([]int64, error) {
	s := a.Rates
	width := us(s.WidthS)
	span := spanOf(s)
	if span <= 0 || width <= 0 {
		return nil, errors.New("the rate series covers no time")
	}
	end := length.Microseconds()
	if end == 0 {
		end = span
	}
	var total float64
	for _, c := range s.Counts {
		total += float64(c)
	}
	rounds := math.Ceil(float64(end) / float64(span))
	switch {
	case total == 0:
		return nil, nil
	case total*rounds > maxRequests:
		return nil, errTooMany
	case float64(len(s.Counts))*rounds > maxRequests:
		return nil, errors.New("the rate series would begin anew over and over: ask for a shorter trace")
	}
	var steps []spec.SplitStep
	if a.Split != nil {
		steps = a.Split.Steps
	}
	out := make([]int64, 0, int64(total))
	for from := int64(0); from < end; from += span {
		for i, n := range s.Counts {
			at := int64(i) * width
			if from+at < end {
				out = place(out, from+at, min(width, span-at), n, steps, rng)
			}
		}
	}
	slices.Sort(out)
	i, _ := slices.BinarySearch(out, end)
	return out[:i], nil
}

// place puts n arrivals into [at, at+width). A bin as wide as the parent of the
// first step is split by it; a wider one, or one that the end of the trace cut
// short, is first cut into such parents, evenly.
func place(out []int64, at, width, n int64, steps []spec.SplitStep, rng *rand.Rand) []int64 {
	for len(steps) > 0 && us(steps[0].ParentS) > width {
		steps = steps[1:]
	}
	switch {
	case n == 0 || width <= 0:
		return out
	case n == 1 || len(steps) == 0:
		for range n {
			out = append(out, at+rng.Int64N(width))
		}
		return out
	}
	parent, child := us(steps[0].ParentS), us(steps[0].ChildS)
	if parent < width {
		m := (width + parent - 1) / parent
		if m > maxParents {
			return place(out, at, width, n, nil, rng)
		}
		for i, k := range multinomial(n, even(m, width, parent), rng) {
			from := int64(i) * parent
			out = place(out, at+from, min(parent, width-from), k, steps, rng)
		}
		return out
	}
	m := max(parent/child, 1)
	for i, k := range multinomial(n, shares(m, float64(steps[0].Rho), rng), rng) {
		out = place(out, at+int64(i)*child, child, k, steps[1:], rng)
	}
	return out
}

// maxParents bounds the bins that a wider one is cut into: minutes of a week.
const maxParents = 7 * 24 * 60

// even returns the running shares of m parts of a width, the last one partial.
func even(m, width, part int64) []float64 {
	cum := make([]float64, m)
	for i := range cum {
		cum[i] = min(float64(int64(i+1)*part)/float64(width), 1)
	}
	return cum
}

// shares draws the running shares of m children with intra-class correlation
// rho: a symmetric Dirichlet with a = (1-rho)/(m rho). The estimate of rho is
// noisy, below zero too, and small shapes degenerate, hence the clip.
func shares(m int64, rho float64, rng *rand.Rand) []float64 {
	const minRho, maxRho = 1e-6, 0.98
	if rho < minRho {
		return even(m, m, 1)
	}
	rho = min(rho, maxRho)
	cum := make([]float64, m)
	dirichlet(cum, (1-rho)/(float64(m)*rho), rng)
	return cum
}

// multinomial draws how n fall by running shares.
func multinomial(n int64, cum []float64, rng *rand.Rand) []int64 {
	out := make([]int64, len(cum))
	for range n {
		i, _ := slices.BinarySearch(cum, rng.Float64())
		out[min(i, len(out)-1)]++
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
