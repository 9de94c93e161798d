package compare

import "math"

// courseName is the rate as a course of time: an hour that is missing, or minutes
// in another order, leave means, peaks and dispersion as they were.
const courseName = "rate over time, error in sd"

// The course is compared in bins of at least courseBin requests on average, and
// at most courseBins of them, of the widths at hand. The mean square of the error,
// in variances of two counts, is 1 of a course that was drawn anew, with a standard
// deviation of √(2/k) of k bins; courseSDs of these are allowed.
const (
	courseBin  = 200
	courseBins = 300
	courseSDs  = 4
)

var courseWidths = []int64{60, 300, 600, 1800, 3600, 6 * 3600, 24 * 3600}

// courseMetric is the root mean square of the differences between the counts of a
// bin, in standard deviations of such a difference. Both sides must cover the same
// time, from their zero.
func courseMetric(a, b *side) Metric {
	m := Metric{Section: sectionArrivals, Name: courseName, Unit: "1", How: Distance}
	if len(a.times) == 0 || len(b.times) == 0 {
		m.Why = "a spec, or a log without times, has no course to compare"
		return m
	}
	last, other := a.times[len(a.times)-1], b.times[len(b.times)-1]
	width := courseWidth(len(a.times), last)
	if width == 0 {
		m.Why = "too few requests, or too short a time"
		return m
	}
	if d := max(last-other, other-last); d > width {
		m.Why = "the two do not cover the same time"
		return m
	}
	k := last / width // whole bins
	x, y := inBins(a.times, width, k), inBins(b.times, width, k)
	dispersion, sum := jumps(x), 0.0
	for i := range x {
		if d := y[i] - x[i]; d != 0 {
			sum += float64(d*d) / float64(dispersion*(x[i]+y[i]))
		}
	}
	m.Off = some(math.Sqrt(sum / float64(k)))
	m.Limit = some(math.Sqrt(1 + courseSDs*math.Sqrt(2/float64(k))))
	return m
}

// courseWidth is the narrowest width that gives full bins and not too many; 0 of
// a trace too short for five of them.
func courseWidth(n int, last int64) int64 {
	for _, w := range courseWidths {
		w *= 1_000_000
		if k := last / w; k >= 5 && k <= courseBins && int64(n) >= courseBin*k {
			return w
		}
	}
	return 0
}

func inBins(times []int64, width, k int64) []float64 {
	out := make([]float64, k)
	for _, t := range times {
		if i := t / width; i < k {
			out[i]++
		}
	}
	return out
}

// jumps is the dispersion of counts from bin to bin, half the mean square of their
// differences over their mean, in which a trend does not count; at least 1, that
// of a Poisson process.
func jumps(x []float64) float64 {
	sum, total := 0.0, x[0]
	for i := 1; i < len(x); i++ {
		sum += float64((x[i] - x[i-1]) * (x[i] - x[i-1]))
		total += x[i]
	}
	mean := total / float64(len(x))
	if mean == 0 {
		return 1
	}
	return max(sum/float64(2*(len(x)-1))/mean, 1)
}
