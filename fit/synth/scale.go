package synth

import (
	"math"
	"math/rand/v2"
	"slices"

	"reprise/trace/spec"
)

// scaled returns arrivals of scale times as many users of the same kind, or of a
// part of the requests.
//
// Users are independent. k times as many have k times the trend of the rate, and
// around it k times the variance, not its square: what a count of the series is
// off its trend grows by the root of k, and ρ inside a bin is divided by k. Below
// 1 requests are chosen by chance, which keeps ρ.
func scaled(a *spec.Arrivals, scale float64, redraw bool, rng *rand.Rand) *spec.Arrivals {
	if scale == 1 && !redraw || a.Rates == nil {
		return a
	}
	out := *a
	series := *a.Rates
	switch {
	case scale > 1:
		series.Counts = grown(&series, scale)
	case scale < 1:
		series.Counts = thinned(series.Counts, scale, rng)
	}
	if redraw {
		drawn := make([]int64, len(series.Counts))
		for i, n := range series.Counts {
			drawn[i] = poissonCount(float64(n), rng)
		}
		series.Counts = drawn
	}
	out.Rates = &series
	out.Split = split(a.Split, scale)
	return &out
}

// grown are the counts of scale times as many users.
func grown(s *spec.RateSeries, scale float64) []int64 {
	whole := s.Counts
	if s.LastS < s.WidthS {
		whole = whole[:len(whole)-1] // a partial bin has no place in the trend
	}
	smooth := trend(whole)
	want := make([]float64, len(s.Counts))
	var total, sum float64
	for i, n := range s.Counts {
		want[i] = scale * float64(n)
		if i < len(smooth) {
			want[i] = float64(scale*smooth[i]) + float64(math.Sqrt(scale)*(float64(n)-smooth[i]))
		}
		total, sum = total+float64(n), sum+want[i]
	}
	out := make([]int64, len(want))
	if sum == 0 {
		return out
	}
	owed := 0.0
	for i, w := range want {
		// What rounding takes from one bin the next ones get.
		owed += float64(w * (scale * total / sum))
		out[i] = int64(min(max(math.Floor(owed+0.5), 0), 1<<62))
		owed -= float64(out[i])
	}
	return out
}

// trendReach is how many bins on either side the trend of a bin is fitted to: the
// noise that gets into it, a part in 2·trendReach+1, grows with the mean.
const trendReach = 10

// trend fits a line to the bins around each one, by least squares, and takes its
// value there; none is below 0.
func trend(counts []int64) []float64 {
	out := make([]float64, len(counts))
	for i := range counts {
		lo, hi := max(i-trendReach, 0), min(i+trendReach+1, len(counts))
		var n, sx, sy, sxx, sxy float64
		for j := lo; j < hi; j++ {
			x, y := float64(j-i), float64(counts[j])
			n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+float64(x*x), sxy+float64(x*y)
		}
		at := sy / n
		if d := float64(n*sxx) - float64(sx*sx); d > 0 {
			at -= float64(sx/n) * (float64(n*sxy) - float64(sx*sy)) / d
		}
		out[i] = max(at, 0)
	}
	return out
}

// thinned keeps a part of the requests, chosen by chance; the part itself of
// each bin where there are so many that chance does not matter.
func thinned(counts []int64, part float64, rng *rand.Rand) []int64 {
	const many = 10 * maxRequests
	var total float64
	for _, n := range counts {
		total += float64(n)
	}
	out := make([]int64, len(counts))
	if total > many {
		for i, n := range counts {
			out[i] = int64(math.Round(part * float64(n)))
		}
		return out
	}
	left, need := int64(total), int64(math.Round(part*total))
	for i, n := range counts {
		for range n {
			if need > 0 && rng.Int64N(left) < need {
				out[i]++
				need--
			}
			left--
		}
	}
	return out
}

func split(s *spec.Split, scale float64) *spec.Split {
	if s == nil || scale <= 1 {
		return s
	}
	out := *s
	out.Steps = slices.Clone(s.Steps)
	for i := range out.Steps {
		out.Steps[i].Rho = spec.Num(float64(out.Steps[i].Rho) / scale)
	}
	return &out
}
