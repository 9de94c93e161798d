package fit

import (
	"math"
	"math/rand/v2"
	"slices"

	"reprise/fit/dist"
)

// RescaleStats tells whether arrivals are Poisson once the drift of their rate
// is taken out: gaps are measured in expected arrivals, by the rate of each bin
// of WidthS seconds (0: one rate for all), and held to the exponential of mean 1
// (time rescaling; Brown et al., Neural Computation 14, 2002). Null is the 95th
// percentile of KS over processes that are Poisson at those rates, each with its
// rates estimated anew, since the same data give the rate and the gaps.
type RescaleStats struct {
	WidthS float64
	KS, CV Stat
	Lag1   Stat // correlation of one rescaled gap with the next
	Null95 Stat
}

// Rescale rescales by bins of width µs from the first arrival; width 0 takes one
// rate.
func Rescale(times []int64, width int64) RescaleStats {
	y := rescaled(times, width)
	s := RescaleStats{WidthS: seconds(width), KS: absent("fewer than two arrivals"), CV: absent("fewer than two arrivals"),
		Lag1: absent("fewer than two arrivals"), Null95: absent("not simulated")}
	if len(y) < 2 {
		return s
	}
	v := dist.NewValues(y)
	s.KS = value(fromExponential(v))
	_, s.CV = spread(v)
	s.Lag1 = correlation(len(y)-1, len(y)-1, func(i int) (float64, float64) { return y[i], y[i+1] })
	return s
}

// fromExponential is the KS distance from the exponential of mean 1.
func fromExponential(v dist.Values) float64 {
	return dist.KS(v, func(x float64) float64 { return -math.Expm1(-x) })
}

// rescaled are the gaps in expected arrivals. It takes no memory for empty bins.
func rescaled(times []int64, width int64) []float64 {
	if len(times) < 2 {
		return nil
	}
	first, last := times[0], times[len(times)-1]
	if width == 0 {
		return byRate(times)
	}
	out := make([]float64, 0, len(times)-1)
	before := 0.0
	for i := 0; i < len(times); {
		start := times[i] - (times[i]-first)%width
		j := i
		for j < len(times) && times[j]-start < width {
			j++
		}
		// The last bin ends at the last arrival, so its rate is over what it covers.
		w := min(width, last-start)
		for k, t := range times[i:j] {
			now := float64(j)
			if w > 0 {
				now = float64(i) + float64(float64(j-i)*(float64(t-start)/float64(w)))
			}
			if i+k > 0 {
				out = append(out, now-before)
			}
			before = now
		}
		i = j
	}
	return out
}

// byRate are the gaps times n over the span.
func byRate(times []int64) []float64 {
	n := len(times) - 1
	span := float64(max(times[n]-times[0], 1))
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(times[i+1]-times[i]) * float64(n+1) / span
	}
	return out
}

// maxRescaled bounds the arrivals of a simulated null, and nullTimes how often it
// is drawn.
const (
	maxRescaled = 50_000
	nullTimes   = 99
)

// Simulate adds the null to s: as many arrivals in each bin as there were, each
// placed uniformly.
func (s *RescaleStats) Simulate(times []int64, width int64, rng *rand.Rand) {
	if !s.KS.OK() {
		return
	}
	if len(times) > maxRescaled {
		s.Null95 = absent("more arrivals than are simulated: the asymptotic 1.36/√n holds")
		return
	}
	first, last := times[0], times[len(times)-1]
	if width == 0 {
		width = max(last-first, 1)
	}
	sim := make([]int64, len(times))
	null := make([]float64, 0, nullTimes)
	for range nullTimes {
		for i, t := range times {
			k := (t - first) / width
			w := min(width, last-first-k*width+1)
			sim[i] = first + k*width + int64(rng.Float64()*float64(w))
		}
		slices.Sort(sim)
		null = append(null, fromExponential(dist.NewValues(rescaled(sim, width))))
	}
	s.Null95 = value(dist.NewValues(null).Quantile(0.95))
}

// IDISteps are the numbers of gaps over which dispersion is told.
func IDISteps() []int { return []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} }

// IDI is the index of dispersion for intervals, the variance of the sum of k
// consecutive gaps (overlapping, n−1 below the line) over k times the squared
// mean gap. Flat at CV² it is a renewal process; rising, the rate is modulated
// (Gusella 1991).
func IDI(gaps []int64, k int) Stat {
	n := len(gaps) - k + 1
	if len(gaps) < 4*k || n < 2 {
		return absent("fewer gaps than four times as many as are summed")
	}
	var total int64
	for _, g := range gaps {
		total += g
	}
	mean := float64(total) / float64(len(gaps))
	if mean == 0 {
		return absent(oneTime)
	}
	at := float64(mean * float64(k)) // near the mean of the sums
	var sum int64
	for _, g := range gaps[:k] {
		sum += g
	}
	var d, squares dist.Sum
	for i := range n {
		if i > 0 {
			sum += gaps[i+k-1] - gaps[i-1]
		}
		x := float64(sum) - at
		d.Add(x)
		squares.Add(float64(x * x))
	}
	variance := (squares.Value() - float64(d.Value()*d.Value())/float64(n)) / float64(n-1)
	return value(variance / float64(float64(k)*float64(mean*mean)))
}
