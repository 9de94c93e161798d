package ingest

import (
	"time"

	"reprise/trace"
)

// Clock counts arrivals, or ends where the log has no others, without a zone,
// that the zone's clock showed twice or skipped.
type Clock struct {
	First, Second int64 // of those twice, by what told which it was
	Untold        int64 // nothing did: taken as the first
	Skipped       int64 // taken as if the clock had not been put forward yet
}

// shown says which times of a record the clock showed twice. They are taken as
// the first until they are settled.
type shown struct {
	later               int64 // µs until the clock showed them again; 0 when none is twice
	arrival, first, end bool
	skipped             bool // the time that tells the arrival, or the end, is none
	own                 own
}

// own are the times that the row gave, not worked out from others.
type own struct{ arrival, ttft, duration bool }

// twice settles which of two instants a time means that the clock showed twice,
// as it does where it is put back. The row tells it, where it ends behind the
// hour or earlier than it began; else the rows before it do, as they come: in a
// log in order of time, whichever way it runs, what would lie an hour behind them
// is of the other pass. Logs that are written when a request ends are out of
// order by minutes. Of one in no order nothing is told.
type twice struct {
	told   Clock
	rows   int64
	jumps  int64 // rows further back than maxBack
	sign   int64 // 1 where instants go up, -1 where they go down
	from   int64 // instant of the first row, or of the last jump
	front  int64 // sign times the furthest instant since
	back   int64 // the most that a row lay behind it
	waits  int64 // rows taken as the first because nothing was before them
	unsure bool  // the front rests on those
}

const (
	maxBack   = int64(30 * time.Minute / time.Microsecond) // nearer to the other pass
	leastBack = int64(time.Minute / time.Microsecond)
	enough    = 100 // rows that show how much a log is out of order
)

// take settles the times of the next record of the log.
func (w *twice) take(r *Record) {
	at, isTwice := &r.Arrival, r.shown.arrival
	if !r.shown.own.arrival {
		at, isTwice = &r.End, r.shown.end
	}
	if !at.OK || r.Relative {
		return
	}
	if r.shown.skipped {
		w.told.Skipped++
	}
	if isTwice {
		second, told := r.ownPass()
		if told {
			w.count(second)
		} else {
			second = w.pass(at.V, r.shown.later)
		}
		if second {
			at.V += r.shown.later
		}
	} else {
		w.give()
	}
	r.settle()
	w.follow(at.V)
}

// ownPass tells the pass from the row's other times.
func (r *Record) ownPass() (second, told bool) {
	s := &r.shown
	switch {
	case !s.own.arrival || !r.End.OK:
		return false, false
	case s.end:
		return false, r.End.V < r.Arrival.V
	}
	second = r.End.V >= r.Arrival.V+s.later
	return second, second
}

// settle puts what else was shown twice into the pass that is next to the arrival,
// or to the end, and works out again what follows from them.
func (r *Record) settle() {
	s := &r.shown
	if s.later == 0 {
		return
	}
	if s.own.arrival && s.end && r.End.V < r.Arrival.V {
		r.End.V += s.later
	}
	if s.first && (s.own.arrival && r.FirstToken.V < r.Arrival.V || !s.own.arrival && r.FirstToken.V+s.later <= r.End.V) {
		r.FirstToken.V += s.later
	}
	if !s.own.arrival {
		r.Arrival = trace.Opt[int64]{}
	}
	if !s.own.ttft {
		r.TTFT = trace.Opt[int64]{}
	}
	if !s.own.duration {
		r.Duration = trace.Opt[int64]{}
	}
	r.derive()
}

// pass chooses between two instants by the rows before.
func (w *twice) pass(first, later int64) (second bool) {
	if w.rows == 0 || !w.ordered() {
		return w.guess()
	}
	next, other := w.sign*first, w.sign*(first+later) // next comes first as the log runs
	if w.sign < 0 {
		next, other = other, next
	}
	switch {
	case next >= w.front-w.slack():
		second = w.sign < 0
		if w.unsure {
			w.waits++
			return second
		}
	case other >= w.front-maxBack:
		if second = w.sign > 0; w.unsure && !second { // as was guessed of the rows before it
			w.waits++
			return second
		}
	default: // another log begins here
		return w.guess()
	}
	w.count(second)
	return second
}

// ordered says that next to all rows come in order of time.
func (w *twice) ordered() bool { return w.jumps < 2 || 20*w.jumps < w.rows }

// slack is how far back a row may lie: twice as far as any did, where many show
// it.
func (w *twice) slack() int64 {
	if w.rows < enough {
		return maxBack
	}
	return min(max(2*w.back, leastBack), maxBack)
}

// count counts a row whose pass is told, and with it those that waited for one:
// they are before it, so of the first pass if it is of the second.
func (w *twice) count(second bool) {
	if !w.ordered() {
		w.give()
	}
	w.told.First += w.waits
	w.waits, w.unsure = 0, false
	if second {
		w.told.Second++
	} else {
		w.told.First++
	}
}

// guess takes a row as of the first pass.
func (w *twice) guess() bool {
	w.give()
	w.waits, w.unsure = 1, true
	return false
}

// give ends the waiting.
func (w *twice) give() {
	w.told.Untold += w.waits
	w.waits, w.unsure = 0, false
}

// follow takes note of a row's instant.
func (w *twice) follow(at int64) {
	w.rows++
	if w.rows == 1 {
		w.sign, w.from, w.front = 1, at, at
		return
	}
	if d := at - w.from; d > leastBack && w.sign < 0 || d < -leastBack && w.sign > 0 {
		w.sign = -w.sign
		w.front = w.sign * at
		return
	}
	switch x := w.sign * at; {
	case x >= w.front:
		w.front = x
	case w.front-x <= maxBack:
		w.back = max(w.back, w.front-x)
	default:
		w.jumps++
		w.from, w.front = at, x
	}
}
