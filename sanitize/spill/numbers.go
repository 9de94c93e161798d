package spill

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// Numbers gives keys the numbers 0, 1, 2, … by first appearance. The sequence
// is told twice: once with Add and Fresh, then, after Finish, in the same order
// with Next, once for each Add and each Fresh.
//
// Lo of the keys must be spread evenly, as that of a digest is.
type Numbers struct {
	space  *Space
	memory int
	rule   rule
	parts  *parts
	pos    uint64 // of the next key

	reader *Reader // stretches of repeats, by position
	sorter *Sorter
	now    stretch
	at     uint64 // of the next Next
	next   uint64 // new number
}

// stretch is n keys from pos on that repeat those numbered id, id+1, …; nth is
// how often each was there before.
type stretch struct{ pos, n, id, nth uint64 }

// NewNumbers returns a numbering that uses about memory bytes and the space.
// Next says how often a key was there before only where counted is set.
func NewNumbers(space *Space, memory int, counted bool) (*Numbers, error) {
	p, err := newParts(space, 0)
	n := &Numbers{space: space, memory: memory, rule: firstSeen, parts: p}
	if counted {
		n.rule = timesSeen
	}
	return n, err
}

// Add tells the next key.
func (n *Numbers) Add(k Key) error {
	n.pos++
	return n.parts.add(ref{k, n.pos - 1})
}

// Fresh tells of count keys that nothing else is equal to.
func (n *Numbers) Fresh(count int) { n.pos += uint64(count) }

// timesSeen is the rule of a numbering that counts.
func timesSeen(s *slot, r ref) (hit, bool) {
	s.nth++
	if s.nth == 1 {
		s.key, s.at = r.key, r.pos
		return hit{}, false
	}
	return hit{r.pos, s.at, s.nth - 1}, true
}

// firstSeen is the rule of one that does not, so that neighbours join.
func firstSeen(s *slot, r ref) (hit, bool) {
	h, again := timesSeen(s, r)
	h.nth = 0
	return h, again
}

// Finish works out the numbers.
func (n *Numbers) Finish(ctx context.Context) error {
	all, err := match(ctx, n.space, n.parts, n.memory, n.rule)
	if err != nil {
		return err
	}
	byPos, byFirst := NewSorter(n.space, n.share()), NewSorter(n.space, n.share())
	if err := stretches(all, byPos, byFirst); err != nil {
		return err
	}
	if err := errors.Join(byPos.Finish(), byFirst.Finish()); err != nil {
		return err
	}
	n.sorter = NewSorter(n.space, n.share())
	if err := resolve(byPos.Reader(), byFirst.Reader(), n.sorter); err != nil {
		return err
	}
	if err := errors.Join(byPos.Close(), byFirst.Close(), n.sorter.Finish()); err != nil {
		return err
	}
	n.reader = n.sorter.Reader()
	return n.advance()
}

// share is what each of up to three sorters may take.
func (n *Numbers) share() int { return max(n.memory/4, 32<<10) }

// stretches joins hits whose positions and first positions go on together.
func stretches(all *hits, byPos, byFirst *Sorter) error {
	var s hit
	var n uint64
	var body []byte
	put := func() error {
		if n == 0 {
			return nil
		}
		body = binary.AppendUvarint(body[:0], n)
		if err := byPos.Add(Key{Hi: s.pos}, body); err != nil {
			return err
		}
		body = binary.AppendUvarint(body, s.nth)
		return byFirst.Add(Key{s.at, s.pos}, body)
	}
	for {
		h, err := all.next()
		if err == io.EOF {
			return put()
		}
		if err != nil {
			return err
		}
		if n > 0 && h.pos == s.pos+n && h.at == s.at+n && h.nth == s.nth {
			n++
			continue
		}
		if err := put(); err != nil {
			return err
		}
		s, n = h, 1
	}
}

// resolve finds the number of each stretch: a new key has as many keys before
// it as its position says, and all but the repeats among them have numbers.
func resolve(byPos, byFirst *Reader, out *Sorter) error {
	var repeats uint64 // before the position that byPos stands at
	pos, length, err := nextStretch(byPos)
	if err != nil {
		return err
	}
	var body []byte
	for {
		k, b, err := byFirst.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for pos < k.Hi {
			repeats += length
			if pos, length, err = nextStretch(byPos); err != nil {
				return err
			}
		}
		body = binary.AppendUvarint(append(body[:0], b...), k.Hi-repeats)
		if err := out.Add(Key{Hi: k.Lo}, body); err != nil {
			return err
		}
	}
}

// nextStretch returns the largest position at the end.
func nextStretch(r *Reader) (pos, length uint64, err error) {
	k, b, err := r.Next()
	if err == io.EOF {
		return 1<<64 - 1, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	length, _ = binary.Uvarint(b)
	return k.Hi, length, nil
}

// advance reads the next stretch.
func (n *Numbers) advance() error {
	k, b, err := n.reader.Next()
	if err == io.EOF {
		n.now = stretch{pos: 1<<64 - 1}
		return nil
	}
	if err != nil {
		return err
	}
	var v [3]uint64
	for i := range v {
		x, used := binary.Uvarint(b)
		if used <= 0 {
			return errDamaged
		}
		v[i], b = x, b[used:]
	}
	n.now = stretch{pos: k.Hi, n: v[0], nth: v[1], id: v[2]}
	return nil
}

// Next returns the number of the next key, and how often it was there before.
func (n *Numbers) Next() (id, nth uint64, err error) {
	for n.at >= n.now.pos && n.at-n.now.pos >= n.now.n {
		if err := n.advance(); err != nil {
			return 0, 0, err
		}
	}
	i := n.at
	n.at++
	if i < n.now.pos {
		n.next++
		return n.next - 1, 0, nil
	}
	return n.now.id + i - n.now.pos, n.now.nth, nil
}

// KeyOf is the key of a plain number.
func KeyOf(n uint64) Key { return Key{Hi: n, Lo: spread(n)} }

// spread mixes a number so that close ones lie far apart (splitmix64, Steele et
// al. 2014).
func spread(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Close frees what Next reads from.
func (n *Numbers) Close() error {
	if n.sorter == nil {
		return nil
	}
	return n.sorter.Close()
}

// Latest finds, for each use of a key, where it was defined last before. The
// sequence is told twice, as with Numbers.
type Latest struct {
	space  *Space
	memory int
	parts  *parts
	hits   *hits
	now    hit
	end    bool
}

// NewLatest returns one that uses about memory bytes and the space.
func NewLatest(space *Space, memory int) (*Latest, error) {
	p, err := newParts(space, 0)
	return &Latest{space: space, memory: memory, parts: p}, err
}

// Use tells that position pos asks for a key, Define that it has one. Positions
// do not fall; at one position the use comes first.
func (l *Latest) Use(k Key, pos uint64) error    { return l.parts.add(ref{k, pos << 1}) }
func (l *Latest) Define(k Key, pos uint64) error { return l.parts.add(ref{k, pos<<1 | 1}) }

// lastDefined is the rule: nth is 2 once the key was defined.
func lastDefined(s *slot, r ref) (hit, bool) {
	s.key, s.nth = r.key, max(s.nth, 1)
	if r.pos&1 == 1 {
		s.at, s.nth = r.pos>>1, 2
		return hit{}, false
	}
	return hit{pos: r.pos >> 1, at: s.at}, s.nth == 2
}

// Finish works out the answers.
func (l *Latest) Finish(ctx context.Context) error {
	var err error
	if l.hits, err = match(ctx, l.space, l.parts, l.memory, lastDefined); err != nil {
		return err
	}
	return l.advance()
}

func (l *Latest) advance() error {
	var err error
	if l.now, err = l.hits.next(); err == io.EOF {
		l.end = true
		return nil
	}
	return err
}

// Find returns where the key that pos uses was defined last; pos must rise.
func (l *Latest) Find(pos uint64) (at uint64, ok bool, err error) {
	for !l.end && l.now.pos < pos {
		if err := l.advance(); err != nil {
			return 0, false, err
		}
	}
	return l.now.at, !l.end && l.now.pos == pos, nil
}
