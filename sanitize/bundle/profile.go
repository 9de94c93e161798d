package bundle

import (
	"fmt"
	"iter"
	"strings"

	"reprise/trace"
	"reprise/trace/spec"
)

// The default thresholds: a published statistic rests on at least k requests
// of at least u clients (sanitization.md §2.5).
const (
	DefaultK = 20
	DefaultU = 5
)

// profile is one leakage profile.
type profile struct {
	name  string
	about string // one sentence for the reviewer
	apply func(in *Input, out *leaving) error
}

// leaving is what a profile lets go: the spec, changed in place, the rows of
// the trace (nil when none leave) and the account of what stays.
type leaving struct {
	spec   *spec.Spec
	header trace.Header
	rows   iter.Seq2[trace.Request, error]
	held   []string
	user   string // how the u rule was checked
}

// profiles lists the leakage profiles, most revealing first.
func profiles() []profile {
	return []profile{
		{"exact", "Every request leaves with its exact lengths and times from zero; sessions and blocks are renumbered and clients are dropped.", exact},
		{"aggregate", "No request leaves: only statistics, each over at least k requests.", aggregate},
	}
}

// Profiles returns the names of the leakage profiles.
func Profiles() []string {
	var names []string
	for _, p := range profiles() {
		names = append(names, p.name)
	}
	return names
}

func profileOf(name string) (profile, error) {
	for _, p := range profiles() {
		if p.name == name {
			return p, nil
		}
	}
	return profile{}, fmt.Errorf("unknown profile %q: known are %s", name, strings.Join(Profiles(), ", "))
}

// clients returns how many clients the trace names; 0 when it names none.
func clients(t *trace.Trace) int64 {
	if t == nil {
		return 0
	}
	seen := map[int32]bool{}
	for i := range t.Requests {
		if c := t.Requests[i].Client; c.OK {
			seen[c.V] = true
		}
	}
	return int64(len(seen))
}

// userRule says in words whether the u rule could be checked.
func userRule(in *Input) string {
	n := clients(in.Trace)
	switch {
	case in.Trace == nil:
		return "u not checked: no trace was given"
	case n == 0:
		return "u not checked: the log names no client"
	case n < int64(in.U):
		return fmt.Sprintf("u not met: the log names fewer than %d clients", in.U)
	}
	return fmt.Sprintf("u checked: the log names %d clients", n)
}
