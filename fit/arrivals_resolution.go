package fit

import (
	"fmt"
	"math"
	"strconv"

	"reprise/fit/dist"
)

// Resolution is the step of the clock that stamped the arrivals. Batched says
// that stamps come in regular batches, far coarser than the digits they are
// written with: a logger that flushes every 3 s.
type Resolution struct {
	StepUS  int64 // 0 when there are fewer than two positive gaps to tell
	Batched bool
}

// String is the step as a person writes it: 1 µs, 3 s.
func (r Resolution) String() string {
	switch us := r.StepUS; {
	case us >= second:
		return strconv.FormatFloat(seconds(us), 'g', 6, 64) + " s"
	case us >= 1000:
		return strconv.FormatFloat(float64(us)/1000, 'g', 6, 64) + " ms"
	default:
		return strconv.FormatInt(us, 10) + " µs"
	}
}

// stampsAt begins the reasons that finer time stamps would remove.
const stampsAt = "time stamps at "

// hides says why a statistic at the scale of width µs cannot be had: it takes
// three steps of the clock to see one.
func (r Resolution) hides(width int64) string {
	if width >= 3*r.StepUS {
		return ""
	}
	return stampsAt + r.String()
}

// hidesGaps says why gaps of the mean (s) cannot be described, if they are
// shorter than so many steps.
func (r Resolution) hidesGaps(mean, steps float64) string {
	if float64(mean*second) >= float64(steps*float64(r.StepUS)) {
		return ""
	}
	return fmt.Sprintf(stampsAt+"%s, mean gap %.3g s", r, mean)
}

// DetectResolution finds the step from the gaps (µs). The tick is the largest
// common divisor of the positive gaps, or a round one that 99 % of them are
// multiples of. The stamps are batched when over 1 % of gaps are zero although
// 90 % of the positive ones are near multiples of a step of ten ticks or more.
func DetectResolution(gaps []int64) Resolution {
	v := dist.FromInts(gaps, 1).Positive()
	if v.Len() < 2 {
		return Resolution{}
	}
	tick := commonTick(v)
	zeros := int64(len(gaps)) - v.Len()
	if float64(zeros) > 0.01*float64(len(gaps)) {
		if step := batchStep(v, tick); step >= 10*tick {
			return Resolution{StepUS: step, Batched: true}
		}
	}
	return Resolution{StepUS: tick}
}

// commonTick is the step that gaps are multiples of.
func commonTick(v dist.Values) int64 {
	var g int64
	for _, x := range v.X {
		g = gcd(g, int64(x))
	}
	for _, tick := range []int64{60 * second, 10 * second, second, 100_000, 10_000, 1000, 100, 10} {
		if tick > g && shareNear(v, tick, 0) >= 0.99 {
			return tick
		}
	}
	return g
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// batchStep is the step of regular batches, 0 if there is none: the most
// frequent gap among those near the smallest ones.
func batchStep(v dist.Values, tick int64) int64 {
	low := v.Quantile(0.01)
	var step, most int64
	for i, x := range v.X {
		if x <= 1.1*low && v.N[i] > most {
			step, most = int64(x), v.N[i]
		}
	}
	if step < 10*tick || shareNear(v, step, 0.05) < 0.9 {
		return 0
	}
	return step
}

// shareNear is the share of v within tol steps of a positive multiple of step.
func shareNear(v dist.Values, step int64, tol float64) float64 {
	var n int64
	for i, x := range v.X {
		k := math.Round(x / float64(step))
		if k >= 1 && math.Abs(x-float64(k*float64(step))) <= float64(tol*float64(step)) {
			n += v.N[i]
		}
	}
	return float64(n) / float64(v.Len())
}

// SlotStats counts arrivals per batch of a logger that stamps in batches: the
// finest burst statistic that such a log carries.
type SlotStats struct {
	StepS      float64
	Slots      int64
	Empty      int64
	Max        int64
	Mean       float64
	Var        float64 // n−1
	IDC        Stat
	PeakToMean float64
	Autocorr   []Stat // at SlotLags
}

// SlotLags are the distances, in slots, of SlotStats.Autocorr.
func SlotLags() []int { return []int{1, 2, 5, 10, 20} }

// Slots counts arrivals per step µs. Slots follow the stamps, each rounded to
// whole steps from the one before, so that a drifting logger stays in phase.
func Slots(times []int64, step int64) *SlotStats {
	var counts []int64
	for i, t := range times {
		skip := int64(1)
		if i > 0 {
			skip = (t - times[i-1] + step/2) / step
		}
		if int64(len(counts))+skip > maxSeries {
			return nil
		}
		for range skip {
			counts = append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	b := summarise(counts, int64(len(counts)))
	s := &SlotStats{StepS: seconds(step), Slots: b.K, Empty: b.Empty, Max: b.Max, Mean: b.Mean,
		Var: b.Var, IDC: b.IDC, PeakToMean: b.PeakToMean.Value}
	for _, lag := range SlotLags() {
		s.Autocorr = append(s.Autocorr, Autocorrelation(counts, lag))
	}
	return s
}

// Autocorrelation is the correlation of x with itself lag places on.
func Autocorrelation(x []int64, lag int) Stat {
	n := len(x) - lag
	if n < 2 {
		return absent("fewer than two pairs")
	}
	return correlation(n, n, func(i int) (float64, float64) { return float64(x[i]), float64(x[i+lag]) })
}
