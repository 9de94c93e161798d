package fit

import (
	"reprise/trace"
	"reprise/trace/spec"
)

// turns tells, request by request, which earlier turn of its session a turn
// continues:
//
//  1. the one that the log names;
//  2. of those with whose whole blocks its prompt begins, the longest, of equals
//     the latest;
//  3. none where it holds less than the first turn and its answer: the first
//     question was asked anew, or the session was cleared;
//  4. else the turn before, which is a guess: there are no blocks, the history
//     was compacted, or something near its beginning changes from turn to turn.
type turns struct {
	size   int32
	l      *Links
	number map[int32]int32
	first  []int32 // by session: its first request
	last   []int32
	ends   map[ending]int32 // the latest prompt of a session that ends with a block
	guess  []bool           // by request: its parent is one
}

// ending is the last whole block of a prompt of a session.
type ending struct{ session, block int32 }

func newTurns(size int) *turns {
	return &turns{size: int32(max(size, 1)), l: &Links{By: spec.BySession}, number: map[int32]int32{}, ends: map[ending]int32{}}
}

// bySession numbers the sessions of the log; named are the parents that it gives.
func bySession(t *trace.Trace, named []int32) *Links {
	k := newTurns(t.Header.BlockTokens)
	for i := range t.Requests {
		k.add(t.Requests[:i], &t.Requests[i])
	}
	return k.links(t, named)
}

// add takes the next request; earlier are those before it, whose blocks it does
// not read.
func (k *turns) add(earlier []trace.Request, r *trace.Request) {
	l, i := k.l, int32(len(earlier))
	session, turn, parent, guess := int32(-1), int32(0), int32(-1), false
	if r.Session.OK {
		var known bool
		if session, known = k.number[r.Session.V]; !known {
			session = l.open(r.Turn.OK && r.Turn.V > 0)
			k.number[r.Session.V] = session
			k.first, k.last = append(k.first, i), append(k.last, i)
		} else {
			turn = l.Turn[k.last[session]] + 1
			parent, guess = k.parent(earlier, r, session)
			k.last[session] = i
		}
		if d := k.whole(r); d > 0 {
			k.ends[ending{session, r.Blocks[d-1]}] = i
		}
	}
	l.Session, l.Turn, l.Parent = append(l.Session, session), append(l.Turn, turn), append(l.Parent, parent)
	k.guess = append(k.guess, guess)
}

// whole is how many of the blocks of a prompt are whole.
func (k *turns) whole(r *trace.Request) int {
	if !r.Input.OK {
		return 0
	}
	return min(int(r.Input.V/k.size), len(r.Blocks))
}

// parent applies the rules from the second on.
func (k *turns) parent(earlier []trace.Request, r *trace.Request, session int32) (int32, bool) {
	last, first := k.last[session], &earlier[k.first[session]]
	if !r.Input.OK || len(r.Blocks) == 0 {
		return last, true
	}
	for d := len(r.Blocks); d > 0; d-- {
		if p, ok := k.ends[ending{session, r.Blocks[d-1]}]; ok && earlier[p].Input.V < r.Input.V {
			return p, false
		}
	}
	if first.Input.OK && first.Output.OK && int64(r.Input.V) < int64(first.Input.V)+int64(first.Output.V)-int64(first.Reason.V) {
		return -1, false
	}
	return last, true
}

// links puts the parents that the log names before those that were found.
func (k *turns) links(t *trace.Trace, named []int32) *Links {
	l := k.l
	for i, p := range named {
		if p >= 0 && l.Session[i] >= 0 && l.Session[p] == l.Session[i] && t.Requests[i].Session.OK {
			l.Parent[i], k.guess[i] = p, false
		}
	}
	for _, g := range k.guess {
		l.Guessed += is(g)
	}
	return l
}
