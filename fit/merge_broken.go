package fit

import (
	"cmp"
	"math"
	"slices"

	"reprise/trace"
)

// brokenKind are the rows of a broken prefix in one log: its first field, and
// those behind it in the same prompts. Shares are of the requests of all logs.
type brokenKind struct {
	log  int
	rows []trace.BrokenPrefix
}

// brokenKinds are those of a log that has a part of all requests.
func brokenKinds(log int, rows []trace.BrokenPrefix, part float64) []brokenKind {
	var out []brokenKind
	for _, b := range rows {
		if b.Share = float64(b.Share * part); !b.Behind || len(out) == 0 {
			out = append(out, brokenKind{log: log})
		}
		k := &out[len(out)-1]
		k.rows = append(k.rows, b)
	}
	return out
}

// nearBroken is how many tokens apart lengths of one kind may be in two logs.
const nearBroken = 16

// sameKind says whether two logs may have the same field before the same stretch:
// all lengths agree.
func sameKind(a, b brokenKind) bool {
	near := func(x, y int64) bool { return x-y <= nearBroken && y-x <= nearBroken }
	return a.log != b.log && slices.EqualFunc(a.rows, b.rows, func(x, y trace.BrokenPrefix) bool {
		return near(x.At, y.At) && near(x.Now, y.Now) && near(x.Would, y.Would)
	})
}

// joinBroken adds a kind to those of other logs that it agrees with.
func joinBroken(all [][]brokenKind, k brokenKind) [][]brokenKind {
	for i, same := range all {
		if sameKind(same[0], k) && same[len(same)-1].log != k.log {
			all[i] = append(same, k)
			return all
		}
	}
	return append(all, []brokenKind{k})
}

// together are the rows of a kind over all logs that have it: shares add up, and
// lengths are means by them.
func together(same []brokenKind) []trace.BrokenPrefix {
	out := slices.Clone(same[0].rows)
	for i := range out {
		b := &out[i]
		b.Prompts, b.Sampled, b.Share = 0, 0, 0
		var at, now, would float64
		for _, k := range same {
			r := k.rows[i]
			b.Prompts, b.Sampled, b.Share = b.Prompts+r.Prompts, b.Sampled+r.Sampled, b.Share+r.Share
			at, now, would = at+float64(r.Share*float64(r.At)), now+float64(r.Share*float64(r.Now)), would+float64(r.Share*float64(r.Would))
		}
		if b.Share > 0 {
			b.At, b.Now, b.Would = int64(math.Round(at/b.Share)), int64(math.Round(now/b.Share)), int64(math.Round(would/b.Share))
		}
	}
	return out
}

// brokenRows are the rows of all kinds, that first which would save most.
func brokenRows(all [][]brokenKind) []trace.BrokenPrefix {
	var kinds [][]trace.BrokenPrefix
	for _, same := range all {
		kinds = append(kinds, together(same))
	}
	saves := func(rows []trace.BrokenPrefix) float64 {
		sum := 0.0
		for _, b := range rows {
			sum += float64(b.Share * float64(b.Would-b.Now))
		}
		return sum
	}
	slices.SortStableFunc(kinds, func(a, b []trace.BrokenPrefix) int {
		return cmp.Or(cmp.Compare(saves(b), saves(a)), cmp.Compare(a[0].At, b[0].At), cmp.Compare(a[0].Would, b[0].Would))
	})
	return slices.Concat(kinds...)
}
