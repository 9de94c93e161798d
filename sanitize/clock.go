package sanitize

import (
	"time"

	"reprise/trace"
)

// clock is what the times of a log count from and how finely.
type clock struct {
	timed    bool
	relative bool
	zero     int64 // first arrival, µs in the log's own terms
	step     int64 // µs
}

// clock decides between times since 1970 and times since the log's start: what
// most rows have.
func (c *collector) clock() clock {
	var byKind [2]clock // absolute, relative
	var n [2]int
	var common [2]int64
	for i := range c.rows.n {
		r := c.rows.at(i)
		if !r.req.T.OK {
			continue
		}
		kind := 0
		if r.relative {
			kind = 1
		}
		k, t := &byKind[kind], r.req.T.V
		if n[kind] == 0 {
			*k = clock{timed: true, relative: r.relative, zero: t}
		}
		k.zero = min(k.zero, t)
		common[kind] = gcd(common[kind], t)
		n[kind]++
	}
	best := 0
	if n[1] > n[0] {
		best = 1
	}
	k := byKind[best]
	if k.timed {
		k.step = step(common[best])
	}
	return k
}

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
