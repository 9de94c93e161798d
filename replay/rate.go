package replay

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Rate is a rate over time: steps one after the other. The last may have no
// end.
type Rate []RateStep

// RateStep changes the rate evenly, in time, from From to To (1/s) over Last;
// with Last 0, the last step holds From for good.
type RateStep struct {
	Last     time.Duration
	From, To float64
}

// Steady is one rate: for a time, or for good where that is 0.
func Steady(rate float64, last time.Duration) Rate { return Rate{{last, rate, rate}} }

// Linear changes the rate evenly over a time.
func Linear(from, to float64, last time.Duration) Rate { return Rate{{last, from, to}} }

// Stepped goes from one rate to another in n equal steps, each for its share of
// the time; with one step it stays at from.
func Stepped(from, to float64, last time.Duration, n int) Rate {
	out := make(Rate, n)
	for i := range out {
		r := from
		if n > 1 {
			r += (to - from) * float64(i) / float64(n-1)
		}
		out[i] = RateStep{part(last, i+1, n) - part(last, i, n), r, r}
	}
	return out
}

// part is i/n of a time, however long.
func part(last time.Duration, i, n int) time.Duration {
	hi, lo := bits.Mul64(uint64(last), uint64(i))
	q, _ := bits.Div64(hi, lo, uint64(n)) // hi < n, since i ≤ n
	return time.Duration(q)
}

// Length is the time until the rate ends, 0 when it does not.
func (r Rate) Length() time.Duration {
	var sum time.Duration
	for _, s := range r {
		sum += s.Last
	}
	if len(r) > 0 && r[len(r)-1].Last == 0 {
		return 0
	}
	return sum
}

// Expected is the expected number of arrivals before the rate ends.
func (r Rate) Expected() float64 {
	sum := 0.0
	for _, s := range r {
		sum += (s.From + s.To) / 2 * s.Last.Seconds()
	}
	return sum
}

// step returns the index of the step that holds at ns.
func (r Rate) step(ns int64) int {
	for i, s := range r {
		if ns -= s.Last.Nanoseconds(); ns < 0 {
			return i
		}
	}
	return len(r) - 1
}

func (r Rate) check() error {
	if len(r) == 0 {
		return errors.New("the arrivals have no rate")
	}
	for i, s := range r {
		for _, v := range []float64{s.From, s.To} {
			if !(v >= 0) || math.IsInf(v, 0) || v > maxRate {
				return fmt.Errorf("a rate of %g requests/s is not between 0 and %d", v, maxRate)
			}
		}
		if s.Last < 0 || s.Last == 0 && i < len(r)-1 {
			return errors.New("a step of the rate lasts no time")
		}
		if s.Last == 0 && s.From == 0 {
			return errors.New("the rate is 0 for good")
		}
	}
	return nil
}

// maxRate is far above what one client sends, and below where ns are too coarse.
const maxRate = 10_000_000

// maxInstant is the last instant that is planned for, ns: what lies behind it can
// still be reckoned with.
const maxInstant = 100 * 365 * 24 * int64(time.Hour)

// rateCursor maps expected arrivals to time, forward only.
type rateCursor struct {
	steps Rate
	base  float64 // expected arrivals before the step
	start int64   // ns before the step
}

func cursorOf(r Rate) *rateCursor { return &rateCursor{steps: r} }

// at returns the instant by which so many arrivals are expected; false when
// that is past the end, or past maxInstant.
func (c *rateCursor) at(expected float64) (int64, bool) {
	for len(c.steps) > 0 {
		s := c.steps[0]
		if s.Last == 0 {
			ns := (expected - c.base) / s.From * 1e9
			if !(ns <= float64(maxInstant-c.start)) {
				return 0, false
			}
			return c.start + int64(ns), true
		}
		last := s.Last.Seconds()
		whole := (s.From + s.To) / 2 * last
		if u := expected - c.base; u < whole {
			// From·t + (To−From)·t²/(2·last) = u, in the form that is exact for To = From
			slope := (s.To - s.From) / last
			t := 2 * u / (s.From + math.Sqrt(max(float64(s.From*s.From)+float64(2*slope*u), 0)))
			if u == 0 {
				t = 0
			}
			return c.start + min(int64(t*1e9), s.Last.Nanoseconds()-1), true
		}
		c.base, c.start, c.steps = c.base+whole, c.start+s.Last.Nanoseconds(), c.steps[1:]
	}
	return 0, false
}
