package sanitize

import (
	"encoding/binary"
	"io"

	"reprise/sanitize/spill"
	"reprise/trace"
)

const (
	backoff     = 60_000_000    // µs after the end of a failed call within which the same one again is a retry
	callAge     = 3_600_000_000 // µs after which an attempt is no longer waited for
	fineClock   = 1_000_000     // µs; at a coarser step equal times say little
	maxSameTime = 1 << 16       // rows of one instant that are compared
	maxWaiting  = 1 << 18       // calls that are remembered before old ones are dropped
)

// repeats finds rows that are no requests of their own: copies, as exports with
// overlapping windows have them, and attempts that another followed. It is
// meant to err on one side only: two requests are never taken for one where the
// log leaves a doubt.
//
// A copy arrives in the same microsecond as the row that it is a copy of, and has its
// request id and its lengths. On a clock of whole seconds all else must be equal
// too. Without an id, a copy stands in another file and equals the row in
// everything, on a clock finer than a second; rows that one file has n times
// are n requests.
//
// An attempt is a row whose call has one with a higher number within the hour;
// or a failed row (408, 429, 5xx, error) without output whose client sends the same whole prompt
// within a minute of its end and with nothing of the same in between.
type repeats struct {
	clock clock
	files int32
	out   *spill.Sorter // ranks of rows to leave out

	now   int64
	same  map[string]copies
	key   []byte
	wait  map[[2]spill.Key]attempt // failed, by client and prompt
	calls map[spill.Key]attempt
}

// copies counts rows that are equal.
type copies struct {
	file         int32
	kept, inFile int
}

// attempt is a row that may turn out to be one.
type attempt struct {
	rank    uint64
	at, end int64
	number  int32
}

func newRepeats(c *collector, k clock, out *spill.Sorter) *repeats {
	return &repeats{clock: k, files: c.files, out: out, same: map[string]copies{},
		wait: map[[2]spill.Key]attempt{}, calls: map[spill.Key]attempt{}}
}

// needed says whether a pass can find anything.
func (c *collector) repeatsNeeded(k clock) bool {
	return k.timed && (c.holds.ids || c.files > 1 || c.holds.calls || c.holds.failed)
}

// row takes the next row in order of arrival; rest is the row's bytes without
// its head.
func (s *repeats) row(rank uint64, r *row, rest []byte) error {
	if s.copy(r, rest) {
		return s.drop(rank, Duplicate)
	}
	if err := s.numbered(rank, r); err != nil {
		return err
	}
	return s.failed(rank, r)
}

func (s *repeats) drop(rank uint64, rule Rule) error {
	return s.out.Add(spill.Key{Hi: rank}, []byte(rule))
}

// copy says whether the row is a copy of one before it.
func (s *repeats) copy(r *row, rest []byte) bool {
	if t := r.req.T.V; t != s.now {
		s.now = t
		clear(s.same)
	}
	named, fine := r.id != (spill.Key{}), s.clock.step < fineClock
	switch {
	case !named && (s.files < 2 || !fine):
		return false
	case named && fine:
		s.key = appendKey(s.key[:0], r.id)
		for _, v := range []trace.Opt[int32]{r.req.Input, r.req.Output} {
			s.key = binary.AppendVarint(s.key, int64(v.V))
		}
	default:
		s.key = append(s.key[:0], rest...)
	}
	c, ok := s.same[string(s.key)]
	if !ok && len(s.same) == maxSameTime {
		return false
	}
	copied := c.add(r.file, named)
	s.same[string(s.key)] = c
	return copied
}

func appendKey(dst []byte, k spill.Key) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, k.Hi), k.Lo)
}

// add counts a row; each file has its own count where rows have no id.
func (c *copies) add(file int32, named bool) (copied bool) {
	if c.file != file && !named {
		c.file, c.inFile = file, 0
	}
	c.inFile++
	if c.inFile <= c.kept {
		return true
	}
	if named && c.kept > 0 {
		return true
	}
	c.kept++
	return false
}

// numbered leaves out attempts of a call below the highest one.
func (s *repeats) numbered(rank uint64, r *row) error {
	if r.call == (spill.Key{}) || r.attempt == 0 {
		return nil
	}
	now := attempt{rank: rank, at: r.req.T.V, number: r.attempt}
	old, ok := s.calls[r.call]
	switch {
	case !ok || now.at-old.at > callAge:
	case old.number < now.number:
		s.calls[r.call] = now
		return s.drop(old.rank, Retry)
	case old.number > now.number:
		return s.drop(rank, Retry)
	default:
		return nil // two rows with one number: which is which nobody knows
	}
	if len(s.calls) >= maxWaiting {
		forget(s.calls, now.at-callAge)
	}
	s.calls[r.call] = now
	return nil
}

// failed leaves out failed calls that were made again.
func (s *repeats) failed(rank uint64, r *row) error {
	none := spill.Key{}
	if r.client == none || r.prompt == none {
		return nil
	}
	k := [2]spill.Key{r.client, r.prompt}
	t := r.req.T.V
	old, ok := s.wait[k]
	if ok {
		delete(s.wait, k)
	}
	if r.failed() {
		if len(s.wait) >= maxWaiting {
			forget(s.wait, t-callAge)
		}
		s.wait[k] = attempt{rank: rank, at: t, end: t + r.req.Dur.V}
	}
	if ok && t > old.at && t >= old.end && t-old.end <= backoff {
		return s.drop(old.rank, Retry)
	}
	return nil
}

// failed says that a call came to nothing, in a way that clients try again.
func (r *row) failed() bool {
	q := &r.req
	if q.Output.V > 0 {
		return false
	}
	if !q.Status.OK {
		return q.Finish == trace.FinishError
	}
	return q.Status.V == 408 || q.Status.V == 429 || q.Status.V >= 500
}

// forget drops what is older than t, and everything when all is young: then
// attempts stay in as requests.
func forget[K comparable](m map[K]attempt, t int64) {
	for k, a := range m {
		if a.at < t {
			delete(m, k)
		}
	}
	if len(m) >= maxWaiting {
		clear(m)
	}
}

// leftOut reads what repeats found, in order of rank.
type leftOut struct {
	reader *spill.Reader // nil for nothing
	rank   uint64
	rule   Rule
}

func newLeftOut(s *spill.Sorter) (*leftOut, error) {
	l := &leftOut{rank: 1<<64 - 1}
	if s != nil {
		l.reader = s.Reader()
		return l, l.advance()
	}
	return l, nil
}

func (l *leftOut) advance() error {
	k, rule, err := l.reader.Next()
	if err == io.EOF {
		l.rank = 1<<64 - 1
		return nil
	}
	l.rank, l.rule = k.Hi, Rule(rule)
	return err
}

// has says whether the row of a rank is left out, and why; ranks must rise.
func (l *leftOut) has(rank uint64) (Rule, bool, error) {
	for l.rank < rank {
		if err := l.advance(); err != nil {
			return "", false, err
		}
	}
	return l.rule, l.rank == rank, nil
}
