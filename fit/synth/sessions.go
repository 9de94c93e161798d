package synth

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// talks says which request is which turn. Arrivals are those of the whole
// workload; a turn that is due takes the arrival nearest to when it is due, and
// what no turn takes begins a session. So minutes, bursts and peaks of requests
// are those of the spec, gaps between turns are off by half the time between
// two arrivals at most, and starts are what the two leave.
//
// Requests of several children are not made: each turn continues the last one.
type talks struct {
	session, turn []int32
	parent        []int32 // −1 for none
	input         []float64
	kept          []float64 // part of the parent's prompt that is sent again
}

// usable says whether a spec has what sessions are drawn from. Sessions that
// were told by prefixes are not drawn: the reuse model has them already, and
// meets the cache curve of the Mooncake conversations within half a point where
// sessions meet it within two and a half.
func usable(s *spec.Sessions) bool {
	return s != nil && s.Identity != "" && s.Identity != spec.ByPrefix && len(s.Hazards) > 0 && s.Between != nil && s.Growth != nil && s.First != nil
}

// newTalks deals the turns of sessions over arrival times (µs, ascending).
func newTalks(s *spec.Sessions, times []int64, seed uint64) *talks {
	n := len(times)
	k := &talks{session: make([]int32, n), turn: make([]int32, n), parent: make([]int32, n), input: make([]float64, n), kept: make([]float64, n)}
	rng, lengths := stream(seed, streamSessions), stream(seed, streamGrowth)
	gaps, first, growth := newHand(s.Between, rng), newHand(s.First, lengths), newHand(s.Growth, lengths)
	kept := newHand(s.Kept, lengths)
	on := newOns(s.Hazards, rng)
	var due queue
	next := int32(0)
	for i, at := range times {
		until := at
		if i+1 < n {
			until += (times[i+1] - at) / 2
		}
		k.parent[i], k.session[i] = -1, next
		if len(due) > 0 && due[0].at <= until {
			p := heap.Pop(&due).(turn).of
			k.parent[i], k.session[i], k.turn[i] = p, k.session[p], k.turn[p]+1
			k.input[i], k.kept[i] = max(k.input[p]+growth.draw(), 1), kept.draw()
		} else {
			next++
			k.input[i] = max(first.draw(), 0)
		}
		if on.draw(int(k.turn[i]) + 1) {
			heap.Push(&due, turn{at + int64(gaps.draw()*1e6), int32(i)})
		}
	}
	return k
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

// turn is due at a time and continues a request.
type turn struct {
	at int64
	of int32
}

// queue is a heap of turns by time, then by request.
type queue []turn

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].of < q[j].of
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(turn)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

// handSize is how many draws are spread evenly over a table at a time.
const handSize = 100

// hand draws from a table, handSize values at a time that are spread over it, in
// random order: a trace of a thousand turns then has the table's quantiles.
type hand struct {
	table dist.Table
	rng   *rand.Rand
	left  []int
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
	if len(h.left) == 0 {
		h.left = h.rng.Perm(handSize)
	}
	u := (float64(h.left[0]) + h.rng.Float64()) / handSize
	h.left = h.left[1:]
	return h.table.At(u)
}

// ons draws whether a session goes on after a turn, handSize decisions of a
// turn at a time.
type ons struct {
	h    []spec.Hazard
	left [][]int
	rng  *rand.Rand
}

func newOns(h []spec.Hazard, rng *rand.Rand) *ons {
	return &ons{h: h, left: make([][]int, len(h)), rng: rng}
}

func (o *ons) draw(turn int) bool {
	i := min(turn, len(o.h)) - 1
	u := o.rng.Float64()
	if turn > len(o.h) && !o.h[i].AndLater {
		return false // nobody knows of more turns
	}
	if len(o.left[i]) == 0 {
		o.left[i] = o.rng.Perm(handSize)
	}
	u = (float64(o.left[i][0]) + u) / handSize
	o.left[i] = o.left[i][1:]
	return u < float64(o.h[i].Value)
}
