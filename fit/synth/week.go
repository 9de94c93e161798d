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

var (
	errNoWeek   = errors.New("the spec has no week profile: it needs a log of a day or more, or a brief with hours")
	errHeldWeek = errors.New("the spec has no week profile: its bundle held the calendar back; it takes one that was made with --calendar hour_of_week or date")
)

// ofWeek draws from the week profile: a Poisson count for each hour around its
// rate, split down the chain of dispersions, which begins with that of the bins of
// the rate series inside an hour.
func ofWeek(a *spec.Arrivals, o Options, scale float64, rng *rand.Rand) ([]int64, error) {
	p := a.Week
	if p == nil {
		return nil, errNoWeek
	}
	if o.Hour < 0 || o.Hour >= spec.WeekHours {
		return nil, fmt.Errorf("the hour of the week must be 0 to %d", spec.WeekHours-1)
	}
	const hour = int64(3600e6)
	end := o.For.Microseconds()
	if end == 0 {
		end = hour
	}
	var steps []spec.SplitStep
	if s := split(hourly(a), scale); s != nil {
		steps = s.Steps
	}
	var out []int64
	for at := int64(0); at < end; at += hour {
		h := (o.Hour + int(at/hour)) % spec.WeekHours
		rate := float64(p.Rates[h])
		if rate < 0 {
			return nil, fmt.Errorf("the log did not cover %s %s, so its rate is not known", spec.HourOfWeek(h), p.Zone)
		}
		// An hour is drawn whole, so that its first part has the bursts of any.
		n := poissonCount(scale*rate*float64(hour)/1e6, rng)
		if int64(len(out))+n > maxRequests {
			return nil, errTooMany
		}
		out = place(out, at, hour, n, steps, rng)
	}
	slices.Sort(out)
	i, _ := slices.BinarySearch(out, end)
	return out[:i], nil
}

// hourly is the split of a log, with the steps from an hour to the bins of its
// rate series before it, as the counts of the series show them.
func hourly(a *spec.Arrivals) *spec.Split {
	var out spec.Split
	if a.Split != nil {
		out = *a.Split
	}
	s := a.Rates
	if s == nil || len(out.Steps) > 0 && out.Steps[0].ParentS != s.WidthS {
		return &out
	}
	var above []spec.SplitStep
	parents := []int64{3600e6, 1800e6, 600e6, 300e6, 60e6}
	for i, child := range parents[1:] {
		parent, width := parents[i], us(s.WidthS)
		if child < width || child%width != 0 {
			break
		}
		rho, ok := dispersion(s, parent, child)
		if !ok {
			return &out
		}
		above = append(above, spec.SplitStep{ParentS: spec.Num(parent / 1e6), ChildS: spec.Num(child / 1e6), Rho: spec.Num(rho)})
	}
	if n := len(above); n == 0 || above[n-1].ChildS != s.WidthS {
		return &out // the series has bins of an hour, of under a minute, or odd ones
	}
	out.Steps = append(above, out.Steps...)
	return &out
}

// dispersion is fit.SplitRho of the whole parents in a series of counts.
func dispersion(s *spec.RateSeries, parent, child int64) (rho float64, ok bool) {
	width := us(s.WidthS)
	whole := len(s.Counts)
	if s.LastS < s.WidthS {
		whole--
	}
	var above, below float64
	for part := range slices.Chunk(s.Counts[:max(whole, 0)], int(parent/width)) {
		if len(part) < int(parent/width) {
			break
		}
		n := 0.0
		for cell := range slices.Chunk(part, int(child/width)) {
			l := 0.0
			for _, c := range cell {
				l += float64(c)
			}
			n, below = n+l, below+float64(l*(l-1))
		}
		above += float64(n * (n - 1))
	}
	m := float64(parent / child)
	if above == 0 {
		return 0, false
	}
	return min(max((float64(m*below)/above-1)/(m-1), 0), 1), true
}

// heldCalendar tells the entry of what a bundle held back that names the week
// profile, where it was for the calendar.
func heldCalendar(entry string) bool {
	return strings.HasPrefix(entry, "workload.arrivals.week_profile:") && strings.HasSuffix(entry, "calendar leaves")
}
