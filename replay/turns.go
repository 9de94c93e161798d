package replay

import (
	"errors"
	"fmt"
	"slices"

	"reprise/trace"
)

// turns says which jobs wait for the answer of another.
type turns struct {
	before []int32 // place of the job whose answer a job waits for, -1: none
	think  []int64 // ns from that answer to the job
	after  map[int32][]int32
}

// waits tells whether a job waits for an answer.
func (p *Plan) waits(i int) bool { return p.turns != nil && p.turns.before[i] >= 0 }

// NewSessionPlan sends the first turn of every session at its recorded instant,
// and each further turn a think time after the answer to the turn before: its
// arrival less the end of that answer in the log. A turn never starts before
// the one above it has ended. Requests without a session follow their parent;
// those with neither have their recorded instant.
//
// Where the log has no end of an answer, as in a trace that was drawn, the think
// time is drawn from thinks; with nil see settleThinking.
func NewSessionPlan(t *trace.Trace, thinks *Thinks) (*Plan, error) {
	p, err := NewPlan(t)
	if err != nil {
		return nil, err
	}
	n := len(p.Jobs)
	p.turns = &turns{before: make([]int32, n), think: make([]int64, n), after: map[int32][]int32{}}
	p.turns.chain(p.Jobs)
	p.settleThinking(thinks)
	p.mode = Sessions
	p.settleTurns()
	if p.Shape.AfterAnswer == 0 {
		return nil, errors.New("no request of the trace continues another: it has no sessions to follow")
	}
	return p, nil
}

// settleTurns gives jobs their places and finds what follows each.
func (p *Plan) settleTurns() {
	waiting := int64(0)
	for i := range p.Jobs {
		p.Jobs[i].place = int32(i)
		if b := p.turns.before[i]; b >= 0 {
			waiting++
			p.turns.after[b] = append(p.turns.after[b], int32(i))
		}
	}
	p.Shape.Absolute, p.Shape.AfterAnswer = int64(len(p.Jobs))-waiting, waiting
}

// part keeps the turns at some places, in ascending order; with a turn the one
// before it is kept.
func (t *turns) part(kept []int32) *turns {
	to := map[int32]int32{}
	out := &turns{after: map[int32][]int32{}}
	for i, k := range kept {
		to[k] = int32(i)
		before := int32(-1)
		if b := t.before[k]; b >= 0 {
			before = to[b]
		}
		out.before, out.think = append(out.before, before), append(out.think, t.think[k])
	}
	return out
}

// chain finds the job that each one follows: the turn before in its session,
// else its parent.
func (t *turns) chain(jobs []Job) {
	last := map[int32]int32{} // by session
	byID := map[int64]int32{}
	for i := range jobs {
		r := &jobs[i].Request
		t.before[i] = -1
		if r.Parent.OK && !r.Session.OK {
			if b, ok := byID[r.Parent.V]; ok {
				t.before[i] = b
			}
		}
		if r.Session.OK {
			if b, ok := last[r.Session.V]; ok {
				t.before[i] = b
			}
			last[r.Session.V] = int32(i)
		}
		byID[r.ID] = int32(i)
	}
}

// The sources of think times (Shape.Think).
const (
	ThinkRecorded = "trace"    // from the ends of answers in the log
	ThinkSpec     = "spec"     // drawn from a spec's
	ThinkMixed    = "mixed"    // recorded where the log has them, otherwise drawn or the median
	ThinkArrivals = "arrivals" // the time from arrival to arrival, which holds the answer's too
)

// settleThinking fills in the think times. Where the log has no end of the
// answer before, one is drawn from thinks; with nil the median of the others
// stands in, or, with none at all, the time from arrival to arrival.
func (p *Plan) settleThinking(thinks *Thinks) {
	var known []int64
	var open []int
	waiting, overlap := 0, 0
	for i := range p.Jobs {
		b := p.turns.before[i]
		if b < 0 {
			continue
		}
		waiting++
		above := &p.Jobs[b]
		gap := p.Jobs[i].Sched - above.Sched
		if p.turns.think[i] = gap; !above.Request.Dur.OK {
			open = append(open, i)
			continue
		}
		think := gap - min(max(above.Request.Dur.V, 0), maxInstant/1000)*1000
		if think < 0 {
			overlap++
			think = 0
		}
		p.turns.think[i] = think
		known = append(known, think)
	}
	slices.Sort(known)
	for _, i := range open {
		switch {
		case thinks != nil:
			p.turns.think[i] = thinks.draw(&p.Jobs[p.turns.before[i]].Request)
		case len(known) > 0:
			p.turns.think[i] = quantile(known, 50)
		}
	}
	p.Shape.Think = thinkSource(len(known), len(open), thinks != nil)
	p.noteTurns(waiting, overlap, len(open), thinks != nil)
}

func thinkSource(known, open int, drawn bool) string {
	switch {
	case open == 0:
		return ThinkRecorded
	case known > 0:
		return ThinkMixed
	case drawn:
		return ThinkSpec
	}
	return ThinkArrivals
}

func (p *Plan) noteTurns(waiting, overlap, open int, drawn bool) {
	note := func(n int, say string) {
		if n > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("%d of %d further turns ", n, waiting)+say)
		}
	}
	p.Notes = append(p.Notes, fmt.Sprintf("%d requests go at their recorded instants; %d further turns go a think time after the answer before, so a slow server gets them later and its load is not the schedule's", len(p.Jobs)-waiting, waiting))
	note(overlap, "began in the log before the answer to the one above ended: they are sent at once when it ends")
	switch {
	case p.Shape.Think == ThinkArrivals:
		note(open, "follow an answer whose end the log does not have: they wait as long as lay between the arrivals, which is longer by the time of the answer")
	case drawn:
		note(open, "have a think time that is drawn from the spec's")
	default:
		note(open, "follow an answer whose end the log does not have: they wait the median think time of the others")
	}
}

// firstTurns yields the jobs that wait for no answer.
func (p *Plan) firstTurns(yield func(*Job) bool) {
	for i := range p.Jobs {
		if !p.waits(i) && !yield(&p.Jobs[i]) {
			return
		}
	}
}
