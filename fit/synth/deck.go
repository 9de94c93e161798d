package synth

import (
	"math"
	"math/rand/v2"

	"reprise/fit/dist"
)

// deck holds as many draws of a table as there will be takers, spread evenly
// over its probabilities. Dealing from it keeps the distribution although each
// taker has a limit: early in a trace nothing was used long ago, and a short
// prompt cannot hit deep. Drawing anew until a value fits would not.
type deck struct {
	rest    []int64 // ascending, above every limit so far
	open    []int64 // within a limit, in no order
	stack   []int64 // those of them above stacked, ascending
	stacked int64
}

func newDeck(t dist.Table, n int, rng *rand.Rand) *deck {
	d := &deck{rest: make([]int64, n), stacked: math.MaxInt64}
	for i := range d.rest {
		d.rest[i] = int64(math.Round(t.At((float64(i) + rng.Float64()) / float64(n))))
	}
	return d
}

// draw takes a random value of those at most limit, or, where that is one above
// stacked, the largest; failing that the smallest one left, failing that 0.
// Limits must not fall from one call to the next.
func (d *deck) draw(limit int64, rng *rand.Rand) int64 {
	for len(d.rest) > 0 && d.rest[0] <= limit {
		if v := d.rest[0]; v > d.stacked {
			d.stack = append(d.stack, v)
		} else {
			d.open = append(d.open, v)
		}
		d.rest = d.rest[1:]
	}
	n := len(d.open) + len(d.stack)
	if n == 0 {
		if len(d.rest) == 0 {
			return 0
		}
		v := d.rest[0]
		d.rest = d.rest[1:]
		return v
	}
	i := rng.IntN(n)
	if i >= len(d.open) {
		v := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		return v
	}
	v, last := d.open[i], len(d.open)-1
	d.open[i], d.open = d.open[last], d.open[:last]
	return v
}
