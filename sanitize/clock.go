package sanitize

import (
	"slices"
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

// clock decides between times since 1970 and times since the log's start, rows
// with and without; what does not go with the choice is rejected.
func (c *collector) clock() clock {
	var k clock
	var absolute, relative int
	for i := range c.rows {
		switch r := &c.rows[i]; {
		case !r.req.T.OK:
		case r.relative:
			relative++
		default:
			absolute++
		}
	}
	if absolute+relative == 0 {
		return k
	}
	k.timed, k.relative = true, relative > absolute
	c.rows = slices.DeleteFunc(c.rows, func(r row) bool {
		switch {
		case !r.req.T.OK:
			c.account.reject(NoTime, r.pos)
		case r.relative != k.relative:
			c.account.reject(MixedClock, r.pos)
		default:
			return false
		}
		return true
	})
	var common int64
	k.zero = c.rows[0].req.T.V
	for i := range c.rows {
		t := c.rows[i].req.T.V
		k.zero = min(k.zero, t)
		common = gcd(common, t)
	}
	k.step = step(common)
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
