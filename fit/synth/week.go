package synth

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"reprise/fit"
	"reprise/trace/spec"
)

// poissonCount draws a Poisson count; above a thousand the normal one.
func poissonCount(mean float64, rng *rand.Rand) int64 {
	if mean > 1000 {
		return int64(max(math.Round(mean+float64(math.Sqrt(mean)*rng.NormFloat64())), 0))
	}
	n := int64(0)
	for sum := rng.ExpFloat64(); sum < mean; sum += rng.ExpFloat64() {
		n++
	}
	return n
}

// ofVariant draws a variant: Poisson, or independent gamma gaps of a CV. The
// number of requests varies as theirs does; gaps are not rescaled to a total.
func ofVariant(a *spec.Arrivals, o Options, length time.Duration, scale float64, rng *rand.Rand) ([]int64, error) {
	var names []string
	for _, v := range a.Variants {
		if v.Name != o.Variant {
			names = append(names, v.Name)
			continue
		}
		rate := scale * float64(v.Rate)
		if v.Process == spec.ProcessPoisson {
			return poisson(rate, length, rng)
		}
		if rate*length.Seconds() > maxRequests {
			return nil, errTooMany
		}
		// Scaling adds users: the CV of a superposition falls as its root does.
		gaps := fit.GammaGaps(rate, float64(v.CV)/math.Sqrt(max(scale, 1)))
		var out []int64
		for at := gaps.Rand(rng); at < length.Seconds(); at += gaps.Rand(rng) {
			if out = append(out, int64(at*1e6)); len(out) > maxRequests {
				return nil, errTooMany
			}
		}
		return out, nil
	}
	if len(names) == 0 {
		return nil, errors.New("the spec has no variants of its arrivals")
	}
	return nil, fmt.Errorf("the spec has no variant %.40q; it has %s", o.Variant, strings.Join(names, ", "))
}

// ofWeek draws from the week profile: a Poisson count for each minute around the
// rate of its hour, split down the chain of dispersions.
func ofWeek(a *spec.Arrivals, o Options, scale float64, rng *rand.Rand) ([]int64, error) {
	p := a.Week
	if p == nil {
		return nil, errors.New("the spec has no week profile: it needs a log of several days, or a brief with hours")
	}
	if o.Hour < 0 || o.Hour >= spec.WeekHours {
		return nil, fmt.Errorf("the hour of the week must be 0 to %d", spec.WeekHours-1)
	}
	const minute, hour = int64(60e6), int64(3600e6)
	end := o.For.Microseconds()
	if end == 0 {
		end = hour
	}
	var steps []spec.SplitStep
	if s := split(a.Split, scale); s != nil {
		steps = s.Steps
	}
	var out []int64
	for at := int64(0); at < end; at += minute {
		h := (o.Hour + int(at/hour)) % spec.WeekHours
		rate := float64(p.Rates[h])
		if rate < 0 {
			return nil, fmt.Errorf("the log did not cover hour %d of the week, so its rate is not known", h)
		}
		width := min(minute, end-at)
		n := poissonCount(scale*rate*float64(width)/1e6, rng)
		if int64(len(out))+n > maxRequests {
			return nil, errTooMany
		}
		out = place(out, at, width, n, steps, rng)
	}
	slices.Sort(out)
	return out, nil
}
