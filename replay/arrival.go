package replay

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"reprise/fit/dist"
)

// The arrival processes of a plan; Recorded keeps the instants of the trace.
const (
	Recorded = "trace"
	Constant = "constant"
	Poisson  = "poisson"
	Gamma    = "gamma"
)

// Arrivals is an arrival process. Its gaps are drawn in expected arrivals and
// mapped to time through the rate, so a rate that changes keeps the process.
// What was drawn is never stretched to end at n over the rate: the count in a
// window varies as the process has it.
//
// Gamma gaps have the shape 1/CV²: 1 is Poisson, above 1 is bursty, below 1 is
// smoother, 0 is constant. The process is stationary: its first gap is what is
// left of a gap found at a random instant (Cox, Renewal Theory, 1962, §2.3, the
// equilibrium renewal process), so that a bursty one does not begin with a burst.
type Arrivals struct {
	Process string
	CV      float64 // of gaps, for Gamma
	Rate    Rate
	Seed    uint64
}

// Check says what is wrong with the process, nil when nothing is.
func (a *Arrivals) Check() error {
	switch a.Process {
	case Constant, Poisson, Gamma:
	default:
		return fmt.Errorf("arrivals %q are not constant, poisson or gamma", a.Process)
	}
	if a.Process == Gamma && !(a.CV >= 0 && a.CV <= maxCV) {
		return fmt.Errorf("a coefficient of variation of %g is not between 0 and %d", a.CV, maxCV)
	}
	return a.Rate.check()
}

// maxCV bounds burstiness where a gamma gap still has a value in floating
// point: most gaps of a shape of 1/2500 are 0 in whole ns already.
const maxCV = 50

// Times yields instants in ns from the process's zero, ascending, until the
// rate ends.
func (a *Arrivals) Times() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		c := cursorOf(a.Rate)
		for at := range a.expected() {
			ns, ok := c.at(at)
			if !ok || !yield(ns) {
				return
			}
		}
	}
}

// expected yields the arrivals of the process at rate 1, without end.
func (a *Arrivals) expected() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		first, gap := a.gaps()
		if gap == nil { // exact, however many
			for n := 0.0; yield(n); n++ {
			}
			return
		}
		for at := first; yield(at); at += gap() {
		}
	}
}

// gaps returns the first gap of the process at rate 1 and a source of the
// others, nil when each is 1.
func (a *Arrivals) gaps() (first float64, gap func() float64) {
	rng := rand.New(rand.NewPCG(a.Seed, arrivalStream))
	switch {
	case a.Process == Poisson:
		return rng.ExpFloat64(), rng.ExpFloat64
	case a.Process == Gamma && a.CV > 0:
		k := 1 / float64(a.CV*a.CV)
		law := dist.Gamma{Shape: k, Scale: 1 / k}
		first = rng.Float64() * dist.Gamma{Shape: k + 1, Scale: 1 / k}.Rand(rng)
		return first, func() float64 { return law.Rand(rng) }
	}
	return 0, nil
}

// arrivalStream tells this stream of a seed from others.
const arrivalStream = 0x6172726976616c73
