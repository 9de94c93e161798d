package sanitize

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/ingest"
	"reprise/trace"
)

// The reasons that this package adds to those of ingest.
const (
	NoTime     ingest.Reason = "no_time"     // other rows have a time, this one has none
	MixedClock ingest.Reason = "mixed_clock" // most rows count from elsewhere: 1970, or the log's start
)

// Reasons returns every reason a row can be rejected for, in a fixed order.
func Reasons() []ingest.Reason { return append(ingest.Reasons(), NoTime, MixedClock) }

// Rule is why a readable row is no part of the workload.
type Rule = ingest.Rule

// The rules that this package adds to those of ingest.
const (
	Duplicate Rule = "duplicate" // a copy of another row
	Retry     Rule = "retry"     // an attempt that another followed
)

// Rules returns the rules in a fixed order; a mapping may add names of its own.
func Rules() []Rule { return append(ingest.Rules(), Duplicate, Retry) }

// keepFirst is how many positions are kept for each reason.
const keepFirst = 5

// Account says what became of every row.
type Account struct {
	Read     int64
	Kept     int64
	Rejected map[ingest.Reason]int64
	Excluded map[Rule]int64
	First    map[ingest.Reason][]ingest.Pos // first positions of rejected rows, in order of the input
}

func newAccount() *Account {
	return &Account{Rejected: map[ingest.Reason]int64{}, Excluded: map[Rule]int64{}, First: map[ingest.Reason][]ingest.Pos{}}
}

func (a *Account) reject(r ingest.Reason, at ingest.Pos) {
	a.Rejected[r]++
	if len(a.First[r]) < keepFirst {
		a.First[r] = append(a.First[r], at)
	}
}

// rejectAll rejects the rows of a kind of time.
func (a *Account) rejectAll(r ingest.Reason, k *kindOfTime) {
	if k.n > 0 {
		a.Rejected[r] += k.n
		a.First[r] = append(a.First[r], k.first...)
	}
}

// Counts is the account in the form of the trace's header.
func (a *Account) Counts() trace.Counts {
	c := trace.Counts{Read: a.Read, Kept: a.Kept, Rejected: map[string]int64{}, Excluded: map[string]int64{}}
	for r, n := range a.Rejected {
		c.Rejected[string(r)] = n
	}
	for r, n := range a.Excluded {
		c.Excluded[string(r)] = n
	}
	return c
}

// TooBad returns an error when more than the share of the rows was rejected.
// It names counts and first positions, the most frequent reason first.
func (a *Account) TooBad(share float64) error {
	var bad int64
	for _, n := range a.Rejected {
		bad += n
	}
	if bad == 0 || float64(bad) <= share*float64(a.Read) {
		return nil
	}
	reasons := slices.SortedFunc(maps.Keys(a.Rejected), func(x, y ingest.Reason) int {
		return cmp.Or(cmp.Compare(a.Rejected[y], a.Rejected[x]), cmp.Compare(x, y))
	})
	var parts []string
	for _, r := range reasons {
		var at []string
		for _, p := range a.First[r] {
			at = append(at, p.String())
		}
		parts = append(parts, fmt.Sprintf("%s %d (%s)", r, a.Rejected[r], strings.Join(at, ", ")))
	}
	return fmt.Errorf("%d of %d rows cannot be used, more than %g %%: %s; mend the log or raise --max-bad",
		bad, a.Read, float64(share*100), strings.Join(parts, "; "))
}
