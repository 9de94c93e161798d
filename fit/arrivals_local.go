package fit

import (
	"math"
	"slices"

	"reprise/fit/dist"
)

// LocalStats describes gaps inside windows, which keeps the drift of a day out
// of burstiness. Windows are complete, start at the first arrival, hold at least
// a given number of arrivals, and use gaps with both ends inside. The pooled
// shape is of positive gaps over their mean in the window.
type LocalStats struct {
	WindowS             float64
	Windows             int64
	CVMedian, CVMean    Stat
	CVP10, CVP90        Stat
	RateMin, RateMax    float64
	RateCV              Stat
	MomentsMedian       Stat
	MLEMedian           Stat
	MLEPooled           Stat
	AutocorrelationLag1 Stat // median
}

// Local describes times in windows of width µs with at least minArrivals.
func Local(times []int64, width int64, minArrivals int) LocalStats {
	var cvs, moments, shapes, rates, lag1, pooled []float64
	each(times, width, func(part []int64) {
		if len(part) < minArrivals {
			return
		}
		gaps := Gaps(part)
		g := DescribeGaps(gaps)
		rates = append(rates, float64(len(part))/seconds(width))
		keep(&cvs, g.CV)
		keep(&moments, g.Moments)
		keep(&shapes, g.MLE)
		keep(&lag1, Autocorrelation(gaps, 1))
		pooled = append(pooled, normalised(gaps)...)
	})
	s := LocalStats{WindowS: seconds(width), Windows: int64(len(rates))}
	s.CVMedian, s.CVMean = median(cvs), mean(cvs)
	s.CVP10, s.CVP90 = quantile7(cvs, 0.1), quantile7(cvs, 0.9)
	s.MomentsMedian, s.MLEMedian, s.AutocorrelationLag1 = median(moments), median(shapes), median(lag1)
	s.MLEPooled, s.RateCV = absent(noWindows), absent(noWindows)
	if len(rates) > 0 {
		s.RateMin, s.RateMax = slices.Min(rates), slices.Max(rates)
		_, s.RateCV = spread(dist.NewValues(rates))
		s.MLEPooled = gammaShape(dist.NewValues(pooled))
	}
	return s
}

// normalised returns the positive gaps over their mean.
func normalised(gaps []int64) []float64 {
	var out []float64
	var sum float64
	for _, g := range gaps {
		if g > 0 {
			out, sum = append(out, float64(g)), sum+float64(g)
		}
	}
	for i := range out {
		out[i] *= float64(len(out)) / sum
	}
	return out
}

// withhold makes absent what the clock hides, as for the gaps of the whole.
func (s *LocalStats) withhold(clock Resolution, g GapStats) {
	why := clock.hidesGaps(g.Mean, 3)
	for _, p := range []*Stat{&s.CVMedian, &s.CVMean, &s.CVP10, &s.CVP90, &s.MomentsMedian, &s.AutocorrelationLag1} {
		*p = p.unless(why)
	}
	s.MLEMedian, s.MLEPooled = s.MLEMedian.unless(g.MLE.Why), s.MLEPooled.unless(g.MLE.Why)
}

// each calls f with the arrivals of every complete window of width.
func each(times []int64, width int64, f func(part []int64)) {
	if len(times) == 0 || width <= 0 {
		return
	}
	first, last := times[0], times[len(times)-1]
	end := first + (last-first)/width*width
	for i := 0; i < len(times) && times[i] < end; {
		edge := first + ((times[i]-first)/width+1)*width
		j := i
		for j < len(times) && times[j] < edge {
			j++
		}
		f(times[i:j])
		i = j
	}
}

func keep(list *[]float64, s Stat) {
	if s.OK() {
		*list = append(*list, s.Value)
	}
}

const noWindows = "no complete window has enough arrivals"

func mean(x []float64) Stat {
	if len(x) == 0 {
		return absent(noWindows)
	}
	return value(dist.NewValues(x).Mean())
}

// median averages the middle two of an even number.
func median(x []float64) Stat { return quantile7(x, 0.5) }

// quantile7 interpolates between windows, which are few: type 7 of Hyndman and
// Fan. It describes windows only; lengths and tables are of type 1.
func quantile7(x []float64, p float64) Stat {
	if len(x) == 0 {
		return absent(noWindows)
	}
	s := slices.Sorted(slices.Values(x))
	h := p * float64(len(s)-1)
	i := int(math.Floor(h))
	if i+1 >= len(s) {
		return value(s[len(s)-1])
	}
	return value(s[i] + float64((h-float64(i))*(s[i+1]-s[i])))
}
