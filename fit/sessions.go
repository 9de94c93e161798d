package fit

import (
	"reprise/trace"
	"reprise/trace/spec"
)

// Links tells which requests are turns of one conversation, in order of
// arrival. By is what told them (spec.BySession and so on), the first that the
// trace has; empty when it has none.
type Links struct {
	By      string
	Session []int32 // by request, from 0; −1 where not known
	Turn    []int32 // position among the session's requests here, from 0
	Parent  []int32 // the request whose context this one continues, −1 for none
	Count   int     // of sessions
	Before  []bool  // by session: its log begins with a turn that is not the first
	Guessed int     // of Parent: the turn before, for want of anything that tells (see turns)
}

// Link applies the order of precedence: session ids, then parents, then the
// chain of prefixes (statistics.md §5). Idle time never tells.
func Link(t *trace.Trace) *Links {
	l := &Links{Session: make([]int32, len(t.Requests)), Turn: make([]int32, len(t.Requests)), Parent: parents(t)}
	has := func(f func(*trace.Request) bool) bool {
		for i := range t.Requests {
			if f(&t.Requests[i]) {
				return true
			}
		}
		return false
	}
	switch {
	case has(func(r *trace.Request) bool { return r.Session.OK }):
		l = bySession(t, l.Parent)
	case has(func(r *trace.Request) bool { return r.Parent.OK }):
		l.By = spec.ByParent
		l.byParent()
	case has(func(r *trace.Request) bool { return len(r.Blocks) > 0 && r.Input.OK }):
		l.By = spec.ByPrefix
		l.Parent = prefixChain(t)
		l.byParent()
	default:
		for i := range l.Session {
			l.Session[i] = -1
		}
	}
	return l
}

// parents are those that the log names, as positions.
func parents(t *trace.Trace) []int32 {
	at := make(map[int64]int32, len(t.Requests))
	out := make([]int32, len(t.Requests))
	for i := range t.Requests {
		r := &t.Requests[i]
		out[i] = -1
		if p, ok := at[r.Parent.V]; ok && r.Parent.OK {
			out[i] = p
		}
		at[r.ID] = int32(i)
	}
	return out
}

func (l *Links) open(before bool) int32 {
	l.Before = append(l.Before, before)
	l.Count++
	return int32(l.Count - 1)
}

// byParent makes a session of each tree of parents.
func (l *Links) byParent() {
	var turns []int32
	for i, p := range l.Parent {
		if p < 0 {
			l.Session[i] = l.open(false)
			turns = append(turns, 0)
		} else {
			l.Session[i] = l.Session[p]
		}
		s := l.Session[i]
		l.Turn[i] = turns[s]
		turns[s]++
	}
}

// minChain is how many whole blocks a prompt must have for its continuation to
// be told by them.
const minChain = 2

// prefixChain takes for the parent of a prompt an earlier one whose whole blocks
// it begins with, of the longest the latest, where that is shorter than it.
// Beginnings that unrelated prompts share tell nothing.
func prefixChain(t *trace.Trace) []int32 {
	size := int32(max(t.Header.BlockTokens, 1))
	common := sharedEnds(t)
	ends := map[int32]int32{} // by last whole block: the latest prompt that ends there
	out := make([]int32, len(t.Requests))
	for i := range t.Requests {
		r := &t.Requests[i]
		out[i] = -1
		if !r.Input.OK || len(r.Blocks) == 0 {
			continue
		}
		for d := len(r.Blocks); d >= minChain && out[i] < 0; d-- {
			if p, ok := ends[r.Blocks[d-1]]; ok && t.Requests[p].Input.V < r.Input.V {
				out[i] = p
			}
		}
		if d := min(int(r.Input.V/size), len(r.Blocks)); d >= minChain && !common(r.Blocks[d-1]) {
			ends[r.Blocks[d-1]] = int32(i)
		}
	}
	return out
}

// A prompt goes on in few ways: at most 8 of those that end where another goes on
// do so in either of the Mooncake traces (conversation, synthetic). A template or
// a system prompt goes on in as many as there are questions. What spec.CommonShare
// of all prompts have needs no more than fewWays to be one, which those of a lone
// conversation that forks now and then do not have.
const (
	mostWays = 8
	fewWays  = 3
)

// sharedEnds says of a block whether unrelated prompts share the beginning that
// ends with it: by how many different whole blocks follow it.
func sharedEnds(t *trace.Trace) func(block int32) bool {
	size := int32(max(t.Header.BlockTokens, 1))
	refs, ways, n := map[int32]int32{}, map[int32]int32{}, int32(0)
	for i := range t.Requests {
		r := &t.Requests[i]
		if len(r.Blocks) == 0 || !r.Input.OK {
			continue
		}
		n++
		whole := min(int(r.Input.V/size), len(r.Blocks))
		for d, id := range r.Blocks[:whole] {
			if refs[id]++; refs[id] == 1 && d > 0 {
				ways[r.Blocks[d-1]]++
			}
		}
	}
	return func(id int32) bool {
		w := ways[id]
		return w > mostWays || w >= fewWays && float64(refs[id]) >= float64(spec.CommonShare*float64(n))
	}
}

// commonDepth is the depth in whole blocks of the beginning that spec.CommonShare
// of the prompts have.
func commonDepth(t *trace.Trace) int32 {
	refs := map[int32]int32{}
	n := int32(0)
	for i := range t.Requests {
		if b := t.Requests[i].Blocks; len(b) > 0 && t.Requests[i].Input.OK {
			n++
			for _, id := range b {
				refs[id]++
			}
		}
	}
	deepest := int32(0)
	for i := range t.Requests {
		depth := int32(0)
		for _, id := range t.Requests[i].Blocks {
			if refs[id] < 2 || float64(refs[id]) < spec.CommonShare*float64(n) {
				break
			}
			depth++
		}
		deepest = max(deepest, depth)
	}
	return deepest
}
