package fit

import (
	"fmt"
	"math"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// sessionGrid is that of tables which sessions are drawn from, gapGrid that of
// the times between turns: retries and schedulers come at one interval, and
// between points of the grid such an atom blurs.
func sessionGrid() []float64 { return dist.Grid(25) }
func gapGrid() []float64     { return dist.Grid(50) }

// sessionSection describes the conversations of a trace; nil when nothing tells
// them, or when nothing but prefixes does and none continues another.
func sessionSection(t *trace.Trace, l *Links) *spec.Sessions {
	c := TurnsOf(t, l)
	if l.Count == 0 || l.By == spec.ByPrefix && l.Count == len(t.Requests) {
		return nil
	}
	b := builder{t: t, l: l, from: spec.Provenance{From: spec.Measured, N: int64(l.Count)}}
	if l.By == spec.ByPrefix {
		b.from.From = spec.Estimate
	}
	v := dist.FromInts(c.Counts, 1)
	table := dist.NewTable(v, dist.Grid(20))
	several, truncated := 0, 0
	for s, n := range c.Counts {
		several += is(n > 1)
		truncated += is(c.Truncated[s])
	}
	n := int64(l.Count)
	share := func(k int) spec.Number { return b.number(float64(k)/float64(n), "1", n) }
	s := &spec.Sessions{Identity: l.By, Count: b.number(float64(n), "sessions", n), MeanTurns: b.number(v.Mean(), "turns", n),
		ShareMultiple: share(several), MostTurns: ptr(b.number(v.Quantile(1), "turns", n)),
		Turns: spec.Table{Provenance: b.from, P: spec.Nums(table.P), Values: spec.Nums(table.X)}}
	if t.Timed() {
		s.Truncated, s.Censored = ptr(share(truncated)), ptr(share(c.Censored()))
	}
	for _, h := range c.Hazards() {
		p := b.from
		p.N = h.AtRisk
		s.Hazards = append(s.Hazards, spec.Hazard{Provenance: p, Turn: h.Turn, AndLater: h.AndLater, Value: spec.Round(h.Value())})
	}
	s.Between = b.tableOn(dist.FromInts(c.Settled, second), gapGrid())
	b.multi(s, c)
	b.turns(s)
	b.starts(s)
	if l.By == spec.ByPrefix {
		s.Notes = append(s.Notes, noteInferred)
	}
	return s
}

// noteInferred says what synth does of sessions that only prefixes tell. Drawn
// as if they were named (five seeds), they meet the Mooncake conversations within
// the limits of statistics.md §6, though worse than the reuse model alone, and
// miss Mooncake-synthetic: hits of an infinite cache by 8.4 points where 1 is
// allowed and the reuse model is 0.4 off, turns a session by 10 %.
const noteInferred = "only prompts that begin with an earlier one tell these sessions, so all of this is estimated; synthetic traffic takes its sharing from hit depths and distances and names no sessions, since drawing such sessions missed the hit rates of a reference log"

func is(b bool) int {
	if b {
		return 1
	}
	return 0
}

func ptr[T any](v T) *T { return &v }

// builder fills in a section with one provenance.
type builder struct {
	t    *trace.Trace
	l    *Links
	from spec.Provenance
}

func (b *builder) number(v float64, unit string, n int64) spec.Number {
	x := spec.MeasuredNumber(v, unit, n)
	x.From = b.from.From
	return x
}

// table of values, nil for none.
func (b *builder) table(v dist.Values) *spec.Table { return b.tableOn(v, sessionGrid()) }

func (b *builder) tableOn(v dist.Values, grid []float64) *spec.Table {
	if v.Len() == 0 {
		return nil
	}
	t := dist.NewTable(v, grid)
	p := b.from
	p.N = v.Len()
	return &spec.Table{Provenance: p, P: spec.Nums(t.P), Values: spec.Nums(t.X)}
}

// multi adds what sessions of several turns hold of the load.
func (b *builder) multi(s *spec.Sessions, c Turns) {
	var requests, all, tokens, input int64
	for i := range b.t.Requests {
		k := b.l.Session[i]
		if k < 0 {
			continue
		}
		in := int64(b.t.Requests[i].Input.V)
		all, input = all+1, input+in
		if c.Counts[k] > 1 {
			requests, tokens = requests+1, tokens+in
		}
	}
	s.Requests = ptr(b.number(float64(requests)/float64(all), "1", all))
	if input > 0 {
		s.Tokens = ptr(b.number(float64(tokens)/float64(input), "1", all))
	}
}

// turns adds what a turn does to the prompt before, how long people and tools
// take, and how often a request is continued twice. A question that is asked
// anew has a prompt before it, but it neither shrinks it nor branches from it.
func (b *builder) turns(s *spec.Sessions) {
	var growth []int64
	var first []int32
	var think, human, tool []int64
	var kept []float64
	children := make([]int32, len(b.t.Requests))
	shrunk, further, anew := 0, 0, 0
	after := b.l.after()
	for i := range b.t.Requests {
		r := &b.t.Requests[i]
		p := after[i]
		if p < 0 {
			if b.l.Session[i] >= 0 && r.Input.OK {
				first = append(first, r.Input.V)
			}
			continue
		}
		before := &b.t.Requests[p]
		continues := b.l.Parent[i] >= 0 // else it was asked anew
		if continues {
			children[p]++
		} else {
			anew++
		}
		if r.Input.OK && before.Input.OK {
			g := int64(r.Input.V) - int64(before.Input.V)
			growth = append(growth, g)
			shrunk, further = shrunk+is(g < 0 && continues), further+is(continues)
		}
		if k, ok := keeps(before, r, b.t.Header.BlockTokens); ok {
			kept = append(kept, k)
		}
		if wait := r.T.V - before.T.V - before.Dur.V; r.T.OK && before.Dur.OK && wait >= 0 {
			think = append(think, wait) // turns that overlap have none
			switch before.Finish {
			case trace.FinishToolCalls:
				tool = append(tool, wait)
			case trace.FinishStop, trace.FinishLength:
				human = append(human, wait)
			}
		}
	}
	s.Growth, s.First, s.Kept = b.table(dist.FromInts(growth, 1)), b.table(dist.FromInts(first, 1)), b.table(dist.NewValues(kept))
	s.Think, s.ThinkHuman, s.ThinkTool = b.table(dist.FromInts(think, second)), b.table(dist.FromInts(human, second)), b.table(dist.FromInts(tool, second))
	if n := int64(further); n > 0 {
		s.Compacted = ptr(b.number(float64(shrunk)/float64(n), "1", n))
	}
	if anew > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d further turns begin anew in their session (a first question asked again, or a cleared history); synthetic traffic draws them as turns that keep a part of the prompt before", anew))
	}
	later := len(b.t.Requests) - b.l.Count
	if float64(b.l.Guessed) > mostGuessed*float64(later) {
		s.Notes = append(s.Notes, fmt.Sprintf("which request a turn continues is not told for %d of %d further turns (no parent, no prompt that begins with it) and taken for the turn before: whether conversations branch is not known", b.l.Guessed, later))
		return
	}
	b.branched(s, children)
}

// mostGuessed is the part of further turns whose parent may be guessed before
// the share of branches is left out.
const mostGuessed = 0.05

// manyBranches is the part of continued requests that have several turns from
// which on notes tell how branches are drawn.
const manyBranches = 0.05

// noteBranches says what synth does of branches. Of chats made to test it (1,500
// sessions, a question sent again or edited after 8 or 25 % of the turns) hits of
// an infinite cache came out 1.5 to 5 points low, where 1 is allowed.
const noteBranches = "conversations branch (a question sent again, or edited): synthetic traffic draws as many branches, but each grows as any other turn does, though it sends again nearly all of the prompt whose place it takes; of logs made to test it hit rates came out up to five points low"

func (b *builder) branched(s *spec.Sessions, children []int32) {
	var continued, twice int64
	for _, n := range children {
		continued += int64(is(n > 0))
		twice += int64(is(n > 1))
	}
	if continued > 0 {
		s.Branched = ptr(b.number(float64(twice)/float64(continued), "1", continued))
		if b.l.By != spec.ByPrefix && twice >= minStratum && float64(twice) >= manyBranches*float64(continued) {
			s.Notes = append(s.Notes, noteBranches)
		}
	}
}

// keeps is the part of the whole blocks of a prompt with which a later one
// begins.
func keeps(before, r *trace.Request, size int) (float64, bool) {
	whole := min(int(before.Input.V)/max(size, 1), len(before.Blocks))
	if whole == 0 || len(r.Blocks) == 0 {
		return 0, false
	}
	n := 0
	for n < whole && n < len(r.Blocks) && before.Blocks[n] == r.Blocks[n] {
		n++
	}
	return math.Min(float64(n)/float64(whole), 1), true
}

// maxStartBins is the most bins of a series of starts.
const maxStartBins = 150

// starts describes the arrivals of first turns, in the bins of the series of
// all arrivals or wider ones.
func (b *builder) starts(s *spec.Sessions) {
	if !b.t.Timed() {
		return
	}
	var times []int64
	for i := range b.t.Requests {
		if b.l.Session[i] >= 0 && b.l.Turn[i] == 0 {
			times = append(times, b.t.Requests[i].T.V)
		}
	}
	s.Starts = b.startsOf(times, b.t.Requests[len(b.t.Requests)-1].T.V)
}

// startsOf describes arrivals of first turns in a log that ends at last; nil of
// fewer than two.
func (b *builder) startsOf(times []int64, last int64) *spec.Starts {
	if len(times) < 2 || last == 0 {
		return nil
	}
	width := seriesWidth(last)
	for _, wider := range []int64{5, 15, 60, 24 * 60} {
		if last/width >= maxStartBins {
			width = wider * seriesWidth(last)
		}
	}
	counts, err := Series(times, 0, width)
	if err != nil {
		return nil
	}
	for n := int(last/width) + 1; len(counts) < n; {
		counts = append(counts, 0)
	}
	rest := last - int64(len(counts)-1)*width + 1
	p := b.from
	p.N = int64(len(times))
	s := &spec.Starts{Rate: b.number(float64(len(times))/seconds(last), "1/s", p.N),
		Rates: &spec.RateSeries{Provenance: p, WidthS: spec.Round(seconds(width)), LastS: spec.Round(seconds(min(rest, width))), Zero: labelled(b.t, 0), Counts: counts}}
	for _, w := range []int64{second, 10 * second, 60 * second} {
		if x, ok := Bins(times, w); ok && x.IDC.OK() {
			s.IDC = append(s.IDC, spec.ScaleValue{Provenance: p, WidthS: spec.Round(seconds(w)), Value: spec.Round(x.IDC.Value)})
		}
	}
	return s
}
