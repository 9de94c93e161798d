package sanitize

import (
	"time"

	"reprise/ingest"
	"reprise/trace"
)

// clock is what the times of a log count from and how finely.
type clock struct {
	timed    bool
	relative bool
	zero     int64 // first arrival, µs in the log's own terms
	step     int64 // µs
}

// times gathers what a log's clock is told by, row by row.
type times struct {
	absolute, relative, none kindOfTime
}

// kindOfTime is the rows whose times are of one kind.
type kindOfTime struct {
	n     int64
	zero  int64
	step  int64 // common divisor
	first []ingest.Pos
}

func (k *kindOfTime) add(t int64, at ingest.Pos) {
	if k.n == 0 {
		k.zero = t
	}
	k.zero = min(k.zero, t)
	if k.step == 0 || t%k.step != 0 {
		k.step = gcd(k.step, t)
	}
	if k.n++; k.n <= keepFirst {
		k.first = append(k.first, at)
	}
}

func (s *times) add(it *item) {
	switch {
	case !it.req.T.OK:
		s.none.add(0, it.pos)
	case it.relative:
		s.relative.add(it.req.T.V, it.pos)
	default:
		s.absolute.add(it.req.T.V, it.pos)
	}
}

// clock decides between times since 1970 and times since the log's start: what
// most rows have. The rows that it does not fit are rejected.
func (s *times) clock(a *Account) clock {
	k, other := &s.absolute, &s.relative
	if other.n > k.n {
		k, other = other, k
	}
	if k.n == 0 {
		return clock{}
	}
	a.rejectAll(MixedClock, other)
	a.rejectAll(NoTime, &s.none)
	return clock{timed: true, relative: k == &s.relative, zero: k.zero, step: step(k.step)}
}

// fits says whether a row is of the clock's kind.
func (k clock) fits(r *row) bool { return !k.timed || (r.req.T.OK && r.relative == k.relative) }

// step is the resolution of stamps that have a common divisor: a minute, a
// second or a decimal part of it, 1 µs at least.
func step(common int64) int64 {
	if common == 0 {
		return 1
	}
	for _, s := range []int64{60_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10} {
		if common%s == 0 {
			return s
		}
	}
	return 1
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// header describes the clock under the policy's calendar; a log that counts
// from its own start has no calendar.
func (k clock) header(calendar string) trace.Time {
	if !k.timed || k.relative {
		return trace.Time{ResolutionUS: k.step, Calendar: trace.CalendarNone}
	}
	return trace.Time{ResolutionUS: k.step, Calendar: calendar, Zero: trace.ZeroLabel(calendar, time.UnixMicro(k.zero))}
}
