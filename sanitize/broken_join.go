package sanitize

import (
	"slices"

	"reprise/trace"
)

// toldKind are the rows of a kind of broken prefix, and the seeds of the roots
// that its prompts are of.
type toldKind struct {
	rows  []trace.BrokenPrefix
	seeds []uint64
}

// join adds a kind to one of another root whose fields and stretches lie where
// its own do, such as the same instructions for another model or adapter: no
// engine shares what is of two roots, so each was found for itself, and one
// change mends both. Of one root, two stretches are two.
func join(all []toldKind, k toldKind) []toldKind {
	for i := range all {
		if a := &all[i]; !slices.Contains(a.seeds, k.seeds[0]) && slices.EqualFunc(a.rows, k.rows, alike) {
			for r := range a.rows {
				a.rows[r] = both(a.rows[r], k.rows[r])
			}
			a.seeds = append(a.seeds, k.seeds...)
			return all
		}
	}
	return append(all, k)
}

// alike compares fields, by where they stand and by the stretch behind them.
func alike(a, b trace.BrokenPrefix) bool {
	near := func(x, y int64, by int64) bool { return x-y <= by && y-x <= by }
	return a.Behind == b.Behind && near(a.At, b.At, nearPlaces) && near(a.Would, b.Would, nearLengths)
}

// both are two rows as one: shares add up, lengths are means by them.
func both(a, b trace.BrokenPrefix) trace.BrokenPrefix {
	mean := func(x, y int64) int64 {
		return tokens(float64(float64(a.Share*float64(x))+float64(b.Share*float64(y))) / float64(a.Share+b.Share))
	}
	a.At, a.Now, a.Would = mean(a.At, b.At), mean(a.Now, b.Now), mean(a.Would, b.Would)
	a.Share += b.Share
	return a
}
