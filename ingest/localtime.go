package ingest

import "time"

// localTime turns the time that a zone's clock showed into µs since 1970. Where
// the clock was put back it showed some times twice, where it was put forward it
// showed some not at all. One goroutine uses it at a time.
type localTime struct {
	zone   *time.Location
	lo, hi int64 // shown times between which offset is the only one
	offset int64
}

// around is how far from a shown time its instant is at most, and so how near a
// change of the clock may be without a look at it.
const around = int64(24 * time.Hour / time.Microsecond)

// instant gives the instant at which the clock showed a time, µs as of UTC. Of a
// time that it showed twice that is the first, and later is how long after it
// the second was. A time that it skipped is read as if it had not been put
// forward yet.
func (l *localTime) instant(shown int64) (at, later int64, skipped bool) {
	if shown >= l.lo && shown < l.hi {
		return shown - l.offset, 0, false
	}
	before, _ := l.look(shown - around)
	after, still := l.look(shown + around)
	if before == after {
		l.keep(shown, before, still)
		return shown - before, 0, false
	}
	first, second := l.holds(shown, before), l.holds(shown, after)
	switch {
	case first && second && before > after:
		return shown - before, before - after, false
	case second && !first:
		return shown - after, 0, false
	}
	return shown - before, 0, !first
}

// look is the offset at an instant and, as a time, that instant.
func (l *localTime) look(at int64) (offset int64, t time.Time) {
	t = time.UnixMicro(at).In(l.zone)
	_, s := t.Zone()
	return int64(s) * 1_000_000, t
}

// holds reports whether an offset is that of the instant which it gives.
func (l *localTime) holds(shown, offset int64) bool {
	is, _ := l.look(shown - offset)
	return is == offset
}

// keep remembers that no change of the clock is near. Where it changes twice in
// two days, to what it was, nothing is known beyond the time itself.
func (l *localTime) keep(shown, offset int64, t time.Time) {
	start, end := t.ZoneBounds()
	if !start.IsZero() && start.UnixMicro()+offset+around > shown {
		return
	}
	l.offset, l.lo, l.hi = offset, shown, shown+around
	if !start.IsZero() {
		l.lo = start.UnixMicro() + offset + around
	} else {
		l.lo = shown - around
	}
	if !end.IsZero() {
		l.hi = max(l.lo, end.UnixMicro()+offset-around)
	}
}
