package fit

import (
	"fmt"

	"reprise/trace"
	"reprise/trace/spec"
)

// sessionPart holds the requests of some sessions of a long trace, chosen by a
// hash of the session, so that a session is there whole or not at all; and the
// beginnings of all sessions.
type sessionPart struct {
	t         trace.Trace
	threshold uint64
	rate      float64
	by        string  // spec.BySession, spec.ByParent, or empty
	root      []int32 // by request: the one that its chain of parents begins with
	rows      int64
	seen      idSet
	starts    []int64 // arrivals of first turns
	count     int64   // of sessions
	timed     bool
	turns     *turns // of t; blocks, which it reads, are not kept
}

func newSessionPart(h trace.Header, rate float64) sessionPart {
	p := sessionPart{t: trace.Trace{Header: h}, threshold: 1<<64 - 1, rate: 1, turns: newTurns(h.BlockTokens)}
	if rate < 1 {
		p.rate, p.threshold = rate, uint64(rate*(1<<64-1))
	}
	return p
}

func (p *sessionPart) add(requests []trace.Request) {
	for i := range requests {
		r := &requests[i]
		row := p.rows
		p.rows++
		if p.by == "" && r.Session.OK {
			p.by = spec.BySession
		}
		root := int32(row)
		if q := r.Parent; q.OK && q.V >= 0 && q.V < row {
			root = p.root[q.V]
			if p.by == "" {
				p.by = spec.ByParent
			}
		}
		p.root = append(p.root, root)
		key, ok := int64(root), true
		first := int64(root) == row
		if p.by == spec.BySession {
			key, ok = int64(uint32(r.Session.V)), r.Session.OK
			first = ok && p.seen.set(key)
		}
		if first {
			p.count++
			if p.timed = r.T.OK; p.timed {
				p.starts = append(p.starts, r.T.V)
			}
		}
		if ok && mix(uint64(key)) <= p.threshold {
			p.turns.add(p.t.Requests, r)
			q := *r
			q.ID, q.Blocks = row, nil
			p.t.Requests = append(p.t.Requests, q)
		}
	}
}

// sessions describes those that were chosen; their number and their beginnings
// are those of all. Last is the last arrival of the trace. Nil where neither
// session ids nor parents tell.
func (p *sessionPart) sessions(last int64) *spec.Sessions {
	if p.by == "" || len(p.t.Requests) == 0 {
		return nil
	}
	var l *Links
	if p.by == spec.BySession {
		l = p.turns.links(&p.t, parents(&p.t))
	} else {
		l = Link(&p.t)
	}
	s := sessionSection(&p.t, l)
	if s == nil {
		return nil
	}
	s.Count = spec.MeasuredNumber(float64(p.count), "sessions", p.count)
	if p.timed {
		b := builder{t: &p.t, l: l, from: spec.Provenance{From: spec.Measured, N: p.count}}
		s.Starts = b.startsOf(p.starts, last)
	}
	return s
}

func (p *sessionPart) note() string {
	return fmt.Sprintf("sessions rest on 1 in %.3g of them, chosen by chance, %d requests in all; their number and the arrivals of first turns are those of all", 1/p.rate, len(p.t.Requests))
}

// idSet is a set of small integers.
type idSet struct{ words []uint64 }

// set adds i and reports whether it is new.
func (b *idSet) set(i int64) bool {
	w := i >> 6
	if w >= int64(len(b.words)) {
		grown := make([]uint64, max(w+1, int64(len(b.words))*3/2))
		copy(grown, b.words)
		b.words = grown
	}
	old := b.words[w]
	b.words[w] |= 1 << (i & 63)
	return old != b.words[w]
}
