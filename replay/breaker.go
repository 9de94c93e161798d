package replay

import (
	"fmt"
	"strings"
)

// breaker ends a run that measures nothing: when its first results are all
// hopeless, or all refused for one reason, and after so many failures in a row.
// Overload answers (429, 503, 529) are what a load test looks for, and never
// trip it.
type breaker struct {
	first, row int // bounds

	n, hopeless, alike, failed int
	refused                    string
}

// add takes a result and says why the run ends, nil while it goes on.
func (b *breaker) add(r *Result) error {
	if r.Class == Unsent || r.Class == Cancelled {
		return nil
	}
	if b.n++; r.Hopeless {
		b.hopeless++
	}
	if b.n == 1 {
		b.refused = refusal(r)
	}
	if b.refused != "" && refusal(r) == b.refused {
		b.alike++
	}
	if b.n == b.first && (b.hopeless == b.n || b.alike == b.n) {
		return fmt.Errorf("%w: the first %d requests all failed: %s", ErrHopeless, b.n, r.Reason)
	}
	switch r.Class {
	case Connect, TLSError, HTTP5xx:
		b.failed++
	default:
		b.failed = 0
	}
	if b.failed == b.row && b.row > 0 {
		if r.lacking() {
			return fmt.Errorf("%w: %d requests in a row failed, the last by %s", ErrLacking, b.failed, r.Reason)
		}
		return fmt.Errorf("%w: %d requests in a row failed, the last by %s", ErrBroken, b.failed, lastly(r))
	}
	return nil
}

func lastly(r *Result) string {
	if r.Reason == "" {
		return r.Class.String()
	}
	return r.Class.String() + ": " + r.Reason
}

// refusal is the reason of a request that the server calls wrong, without its
// digits, since they differ from one to the next; empty for any other.
func refusal(r *Result) string {
	if r.HTTP.V != 400 && r.HTTP.V != 422 {
		return ""
	}
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, r.Reason)
}
