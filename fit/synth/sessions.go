package synth

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// talks says which request is which turn. Arrivals are those of the whole
// workload, so that minutes, bursts and peaks of requests are those of the spec;
// a turn takes the arrival nearest to when it is due, moves it there as far as
// its neighbours leave room, and what no turn takes begins a session. A session is
// likelier to go on when one lies near (see ons.draw). Where arrivals are rare,
// sessions come first and make them (see fromStarts).
//
// A turn continues the last one, or one before it that another turn continues
// already (see forks).
type talks struct {
	session, turn []int32
	before        []int32 // the turn before in the session, −1 for none
	parent        []int32 // the turn that it continues, −1 for none
	input         []float64
	kept          []float64 // part of the parent's prompt that is sent again
}

// usable says whether a spec has what sessions are drawn from. Sessions that
// were told by prefixes are not drawn, which the spec's notes on sessions say:
// the reuse model has them already. Of the Mooncake conversations, drawn sessions
// meet the cache curve within 1.6 points and the reuse model within 0.4; of
// Mooncake-synthetic they miss it by up to 8.4 points (see fit.noteInferred).
func usable(s *spec.Sessions) bool {
	return s != nil && s.Identity != "" && s.Identity != spec.ByPrefix && len(s.Hazards) > 0 && s.Between != nil && s.Growth != nil && s.First != nil
}

// newTalks deals the turns of sessions over arrival times (µs, ascending), some
// of which it moves a little.
func newTalks(s *spec.Sessions, times []int64, seed uint64) *talks {
	n := len(times)
	k := &talks{session: make([]int32, n), turn: make([]int32, n), before: make([]int32, n), parent: make([]int32, n), input: make([]float64, n), kept: make([]float64, n)}
	rng, lengths := stream(seed, streamSessions), stream(seed, streamGrowth)
	gaps, first, growth := newHand(s.Between, rng), newHand(s.First, lengths), newHand(s.Growth, lengths)
	kept := newHand(s.Kept, lengths)
	on, fork := newOns(s.Hazards, rng), newForks(s.Branched, n, seed)
	for i := range k.parent {
		k.before[i], k.parent[i] = -1, -1
	}
	next, bias := int32(0), 0.0
	for i := range times {
		if p := k.parent[i]; p >= 0 {
			k.session[i], k.turn[i] = k.session[p], k.turn[k.before[i]]+1
			k.input[i], k.kept[i] = max(k.input[p]+growth.draw(), 1), kept.draw()
		} else {
			k.session[i] = next
			next++
			k.input[i] = max(first.draw(), 0)
		}
		gap := int64(gaps.peek() * 1e6)
		wait := int64(float64(gap) * math.Exp(-bias))
		from := fork.from(k.parent, times, i, min(gap, wait))
		at := times[from]
		slot := k.free(times, i, at+wait)
		good := slot < 0 || max(times[slot]-at-gap, at+gap-times[slot]) <= gap/nearSlot
		if !on.draw(int(k.turn[i])+1, good) {
			continue
		}
		gaps.draw()
		if slot >= 0 {
			k.before[slot], k.parent[slot] = int32(i), from
			fork.took(from)
			if due := at + gap; max(times[slot]-due, due-times[slot]) > gap/closeSlot {
				times[slot] = nearer(times, slot, due)
			}
			if d := times[slot] - at; d > 0 && gap > 0 {
				bias = min(max(bias+steer*math.Log(float64(d)/float64(gap)), -mostBias), mostBias)
			}
		}
	}
	return k
}

// A slot is near within one part in nearSlot of the gap; it is looked for among
// slotReach arrivals on either side. One within a part in closeSlot stays where it
// is: to move arrivals evens them out (a local CV of 1 became 0.86), and the gap
// between turns would gain nothing by it.
//
// A gap can come out longer by much and shorter by little, since the turn before
// bounds it: what gaps are longer than drawn, as a logarithm, is aimed before
// them, learned a part steer at a time.
const (
	steer     = 0.02
	mostBias  = 0.5
	nearSlot  = 5
	closeSlot = 4
	slotReach = 256
)

// nearer moves an arrival to a time, as far as half the way to the ones beside it
// and inside its minute: order and counts by minute stay.
func nearer(times []int64, slot int, due int64) int64 {
	const minute = 60_000_000
	at := times[slot]
	lo := at - at%minute
	hi := lo + minute - 1
	if slot > 0 {
		lo = max(lo, at-(at-times[slot-1])/2)
	}
	if slot+1 < len(times) {
		hi = min(hi, at+(times[slot+1]-at)/2)
	} else {
		hi = at
	}
	return min(max(due, lo), hi)
}

// free is the arrival after the i-th that no turn has, nearest to a time; −1 when
// that lies behind the last arrival, or none is free around it.
func (k *talks) free(times []int64, i int, due int64) int {
	n := len(times)
	at, _ := slices.BinarySearch(times, due)
	if at == n {
		return -1
	}
	right := at
	for right < n && right-at < slotReach && (right <= i || k.parent[right] >= 0) {
		right++
	}
	left := at - 1
	for left > i && at-left < slotReach && k.parent[left] >= 0 {
		left--
	}
	okRight := right < n && right > i && k.parent[right] < 0
	okLeft := left > i && k.parent[left] < 0
	switch {
	case okRight && (!okLeft || times[right]-due <= due-times[left]):
		return right
	case okLeft:
		return left
	}
	return -1
}

// arrange gives the pairs of lengths to requests, the longest input to the one
// whose session asks for the longest: the lengths stay those of the spec.
func (k *talks) arrange(input, output []int32) {
	want, have := ascending(k.input), ascending(input)
	in, out := slices.Clone(input), slices.Clone(output)
	for rank, i := range want {
		input[i], output[i] = in[have[rank]], out[have[rank]]
	}
}

func ascending[T cmp.Ordered](x []T) []int32 {
	order := make([]int32, len(x))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(x[a], x[b]) })
	return order
}

// mark writes the columns of the i-th request.
func (k *talks) mark(i int, r *trace.Request) {
	r.Session, r.Turn = trace.Some(k.session[i]), trace.Some(k.turn[i])
	if p := k.parent[i]; p >= 0 {
		r.Parent = trace.Some(int64(p))
	}
}

// handSize is how many draws are spread evenly over a table at a time.
const handSize = 100

// hand draws from a table, handSize values at a time that are spread over it, in
// random order: a trace of a thousand turns then has the table's quantiles.
type hand struct {
	table dist.Table
	rng   *rand.Rand
	left  []int
	next  float64
	has   bool // next is what will be drawn
}

// newHand of no table draws 1.
func newHand(t *spec.Table, rng *rand.Rand) *hand {
	h := &hand{rng: rng}
	if t != nil {
		h.table = table(t.P, t.Values)
	} else {
		h.table = dist.Table{P: []float64{0, 1}, X: []float64{1, 1}}
	}
	return h
}

func (h *hand) draw() float64 {
	v := h.peek()
	h.left, h.has = h.left[1:], false
	return v
}

// peek is what draw will return.
func (h *hand) peek() float64 {
	if h.has {
		return h.next
	}
	if len(h.left) == 0 {
		h.left = h.rng.Perm(handSize)
	}
	u := (float64(h.left[0]) + h.rng.Float64()) / handSize
	h.next, h.has = h.table.At(u), true
	return h.next
}

// ons draws whether a session goes on after a turn. What it owes to the hazard
// of a turn it makes good over the next sessions that reach it, a part payBack at
// a time.
type ons struct {
	h    []spec.Hazard
	owed []float64
	seen []float64 // sessions that reached the turn
	rng  *rand.Rand
}

const (
	payBack  = 0.3
	poorPart = 0.1   // of the odds, for a session with no arrival near
	mostOwed = 2     // from here on every session will do,
	owedPart = 0.012 // and this part of the sessions that reached the turn
)

func newOns(h []spec.Hazard, rng *rand.Rand) *ons {
	return &ons{h: h, owed: make([]float64, len(h)), seen: make([]float64, len(h)), rng: rng}
}

func (o *ons) draw(turn int, good bool) bool {
	i := min(turn, len(o.h)) - 1
	u := o.rng.Float64()
	if turn > len(o.h) && !o.h[i].AndLater {
		return false // nobody knows of more turns
	}
	h := float64(o.h[i].Value)
	odds := h + payBack*o.owed[i]
	o.seen[i]++
	if !good && o.owed[i] < mostOwed+float64(owedPart*o.seen[i]) {
		odds *= poorPart
	}
	o.owed[i] += h
	if h == 0 || u >= odds {
		return false
	}
	o.owed[i]--
	return true
}
