package fit

import (
	"fmt"

	"reprise/fit/dist"
)

// second is the number of microseconds in one.
const second = 1_000_000

// maxSpan bounds a log: ten years. What lies further apart is a stray time stamp,
// such as 1970, or one in another unit, and its empty minutes would fill the
// memory.
const maxSpan = 10 * 366 * 24 * 3600 * second

func checkSpan(times []int64) error {
	if span := times[len(times)-1] - times[0]; span > maxSpan {
		return fmt.Errorf("the arrivals span %.4g years, above the limit of 10: look for a stray time stamp, or one in another unit", seconds(span)/(365.25*24*3600))
	}
	return nil
}

// Widths are the bins at which counts are described, in µs.
func Widths() []int64 {
	w := []int64{1, 2, 5, 10, 30, 60, 120, 300, 3600}
	for i := range w {
		w[i] *= second
	}
	return w
}

// ArrivalStats describes when requests come. Rate is n over the span from the
// first to the last arrival.
type ArrivalStats struct {
	N        int64
	SpanS    float64
	Rate     Stat
	Gaps     GapStats
	Clock    Resolution
	Slots    *SlotStats // of a log that stamps in batches
	Bins     []BinStats // one for each of Widths that fits into the span
	Local    LocalStats
	Split    []SplitStep
	PeakHour Window
}

// Arrivals describes times, which ascend (µs). What the clock behind them
// cannot resolve is absent and says so.
func Arrivals(times []int64) (ArrivalStats, error) {
	if len(times) == 0 {
		return ArrivalStats{}, fmt.Errorf("no arrival times to describe")
	}
	for i := 1; i < len(times); i++ {
		if times[i] < times[i-1] {
			return ArrivalStats{}, fmt.Errorf("arrival %d is earlier than the one before it; sort by arrival first", i)
		}
	}
	if err := checkSpan(times); err != nil {
		return ArrivalStats{}, err
	}
	n := len(times)
	s := ArrivalStats{N: int64(n), SpanS: seconds(times[n-1] - times[0]), Rate: absent(oneTime)}
	if s.SpanS > 0 {
		s.Rate = value(float64(n) / s.SpanS)
	}
	gaps := Gaps(times)
	s.Clock = DetectResolution(gaps)
	s.Gaps = gapStats(gaps, s.Clock)
	s.Local = Local(times, 300*second, 30)
	s.Local.withhold(s.Clock, s.Gaps)
	if s.Clock.Batched {
		s.Slots = Slots(times, s.Clock.StepUS)
	}
	for _, w := range Widths() {
		if b, ok := Bins(times, w); ok {
			b.withhold(s.Clock.hides(w))
			if n < minBinned {
				b.withhold(fmt.Sprintf("fewer than %d arrivals", minBinned))
			}
			s.Bins = append(s.Bins, b)
		}
	}
	s.Split = SplitRho(times, SplitChain(), s.Clock)
	s.PeakHour = PeakWindow(times, 3600*second, 60*second)
	return s, nil
}

// minBinned is how many arrivals counts in bins can be told of: of two, a year
// apart, the busiest second has ten million times the mean.
const minBinned = 3

// oneTime is why nothing is told of gaps that are all zero.
const oneTime = "all requests arrive at one time"

func seconds(us int64) float64 { return float64(us) / second }

// Gaps returns the times between consecutive arrivals, zeros included.
func Gaps(times []int64) []int64 {
	if len(times) < 2 {
		return nil
	}
	out := make([]int64, len(times)-1)
	for i := range out {
		out[i] = times[i+1] - times[i]
	}
	return out
}

// GapStats describes the gaps between arrivals, in seconds. CV has n−1 below the
// line and counts zero gaps; Moments is the gamma shape 1/CV²; MLE is the gamma
// shape of the positive gaps. Where the two differ by more than a factor of two
// the gamma family is wrong.
type GapStats struct {
	N         int64
	Mean      float64
	ZeroShare float64
	CV        Stat
	Moments   Stat
	MLE       Stat
}

// DescribeGaps describes gaps (µs) as they stand, whatever the clock.
func DescribeGaps(gaps []int64) GapStats {
	v := dist.FromInts(gaps, second)
	s := GapStats{N: v.Len()}
	if s.N == 0 {
		s.CV = absent("fewer than two arrivals")
		s.Moments, s.MLE = s.CV, s.CV
		return s
	}
	s.Mean, s.ZeroShare = v.Mean(), float64(v.Count(0))/float64(s.N)
	_, s.CV = spread(v)
	s.Moments = inverseSquare(s.CV)
	s.MLE = gammaShape(v)
	return s
}

// inverseSquare is 1/cv², the gamma shape by moments.
func inverseSquare(cv Stat) Stat {
	if !cv.OK() {
		return cv
	}
	if cv.Value == 0 {
		return absent("all gaps are equal")
	}
	return value(1 / float64(cv.Value*cv.Value))
}

// gammaShape is the gamma shape of the positive values by maximum likelihood.
func gammaShape(v dist.Values) Stat {
	f, err := dist.FitGamma(v.Positive())
	if err != nil {
		return absent(err.Error())
	}
	return value(f.Shape)
}

// gapStats describes gaps and withholds what the clock cannot carry: the spread
// needs a mean gap of three steps or more; the likelihood, which hangs on the
// smallest gaps, needs ten, and at most 1 % of ties.
func gapStats(gaps []int64, clock Resolution) GapStats {
	s := DescribeGaps(gaps)
	if s.N == 0 {
		return s
	}
	s.CV = s.CV.unless(clock.hidesGaps(s.Mean, 3))
	s.Moments = s.Moments.unless(clock.hidesGaps(s.Mean, 3))
	s.MLE = s.MLE.unless(clock.hidesGaps(s.Mean, 10))
	switch {
	case s.ZeroShare == 1:
		s.CV, s.Moments, s.MLE = s.CV.unless(oneTime), s.Moments.unless(oneTime), s.MLE.unless(oneTime)
	case s.ZeroShare > 0.01 && clock.StepUS > 0:
		s.MLE = s.MLE.unless(fmt.Sprintf("%.1f %% of gaps are zero, "+stampsAt+"%s", 100*s.ZeroShare, clock))
	}
	return s
}
