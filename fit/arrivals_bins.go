package fit

import (
	"fmt"
	"slices"

	"reprise/fit/dist"
)

// maxSeries bounds a series of counts: 116 days at one second. A stray time
// stamp must not cost the memory of a century.
const maxSeries = 10_000_000

// BinStats describes counts in bins of WidthUS from the first arrival: K
// complete bins, the partial last one dropped, empty ones kept. IDC is variance
// (n−1) over mean, 1 for Poisson. Sliding is the busiest window of the width
// over n/span·width. Poisson is what the largest of K Poisson bins would show.
type BinStats struct {
	WidthUS    int64
	K          int64
	Mean       float64
	Var        float64
	Max        int64
	MaxBin     int64 // index of the first largest bin
	Empty      int64
	P99        float64
	PeakToMean Stat
	IDC        Stat
	Sliding    Stat
	Poisson    PoissonPeak
}

// Bins describes times in bins of width µs; false when no bin is complete.
func Bins(times []int64, width int64) (BinStats, bool) {
	if len(times) == 0 || width <= 0 || times[len(times)-1]-times[0] < width {
		return BinStats{}, false
	}
	span := times[len(times)-1] - times[0]
	k := span / width
	counts, index := occupied(times, width, k)
	b := summarise(counts, k)
	b.WidthUS = width
	b.MaxBin = index[slices.Index(counts, b.Max)]
	b.Poisson = PoissonPeakToMean(b.K, b.Mean)
	expected := float64(len(times)) / float64(span) * float64(width)
	b.Sliding = value(float64(busiest(times, width)) / expected)
	return b, true
}

// withhold makes absent what the clock hides at this width.
func (b *BinStats) withhold(why string) {
	b.PeakToMean = b.PeakToMean.unless(why)
	b.IDC = b.IDC.unless(why)
	b.Sliding = b.Sliding.unless(why)
}

// occupied counts arrivals in the first k bins of width from the first arrival
// and leaves empty bins out; index numbers the bins.
func occupied(times []int64, width, k int64) (counts, index []int64) {
	for _, t := range times {
		i := (t - times[0]) / width
		if i >= k {
			break
		}
		if n := len(index); n == 0 || index[n-1] != i {
			counts, index = append(counts, 0), append(index, i)
		}
		counts[len(counts)-1]++
	}
	return counts, index
}

// summarise describes k bins, of which counts has at least the occupied ones.
func summarise(counts []int64, k int64) BinStats {
	b := BinStats{K: k}
	var sum, squares int64
	for _, c := range counts {
		sum, squares = sum+c, squares+c*c
		b.Max = max(b.Max, c)
		if c == 0 {
			b.Empty++
		}
	}
	b.Empty += k - int64(len(counts))
	b.Mean = float64(sum) / float64(k)
	b.PeakToMean = value(float64(b.Max) / b.Mean)
	b.P99 = binQuantile(counts, k, 0.99)
	b.IDC = absent("fewer than two complete bins")
	if k > 1 {
		b.Var = (float64(squares) - float64(b.Mean*float64(sum))) / float64(k-1)
		b.IDC = value(b.Var / b.Mean)
	}
	return b
}

// binQuantile is the type-1 quantile of k counts, those not listed being zero.
func binQuantile(counts []int64, k int64, p float64) float64 {
	zeros := dist.Values{}
	if rest := k - int64(len(counts)); rest > 0 {
		zeros = dist.Repeat(0, rest)
	}
	return dist.Merge(zeros, dist.FromInts(counts, 1)).Quantile(p)
}

// busiest is the largest number of arrivals in any [t, t+width) that starts at
// an arrival.
func busiest(times []int64, width int64) int {
	most, j := 0, 0
	for i, t := range times {
		for j < len(times) && times[j] < t+width {
			j++
		}
		most = max(most, j-i)
	}
	return most
}

// Series counts arrivals per width µs from origin to the last arrival, both ends
// included as they are. Times before origin are an error, and so is a series of
// over ten million bins.
func Series(times []int64, origin, width int64) ([]int64, error) {
	if len(times) == 0 {
		return nil, nil
	}
	if width <= 0 || times[0] < origin {
		return nil, fmt.Errorf("the series of counts starts after the first arrival or has no width")
	}
	k := (times[len(times)-1]-origin)/width + 1
	if k > maxSeries {
		return nil, fmt.Errorf("arrivals span %d bins of %g s, above the limit of %d; look for a stray time stamp",
			k, seconds(width), maxSeries)
	}
	counts := make([]int64, k)
	for _, t := range times {
		counts[(t-origin)/width]++
	}
	return counts, nil
}
