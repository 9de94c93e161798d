package replay

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"reprise/trace"
)

// Job is one planned request.
type Job struct {
	Row     int64 // row of the trace
	Point   int32 // load point of the run matrix, 0 for a single run
	Repeat  int32 // repetition, from 0
	Phase   Phase
	Sched   int64 // ns from the run's zero
	Pass    int32 // how often the trace was sent before this; its rows go on counting
	Request trace.Request

	place int32 // in the plan, of sessions
}

// Plan is what a run sends and when: jobs in order of their instants, or of
// their turn in a closed loop. Shape says what load that is, Notes what had to
// be settled to make it.
type Plan struct {
	Jobs  []Job
	Shape Shape
	Notes []string
	// Keep sends later passes of a trace with the prefixes of the first, for a
	// deliberate test of a warm cache.
	Keep bool

	mode   string
	rows   int     // of the trace, where jobs may run through it again
	stride int64   // what a pass adds to the row numbers
	blocks int32   // prefix blocks of the trace
	part   bool    // of a plan that several machines send
	levels []Level // of a closed loop
	turns  *turns  // of sessions
	warm   int64   // ns, of sessions: turns due before it are warm-up

	blockTokens int // of a prefix block; 0: of a plan put together by hand
}

// NewPlan takes the schedule from the arrival times of t; the trace's zero is
// the run's zero. A trace without times is refused.
func NewPlan(t *trace.Trace) (*Plan, error) {
	if len(t.Requests) > 0 && !t.Timed() {
		return nil, errors.New("the trace has no arrival times, so there is no schedule to hold: give a rate or a concurrency, or fit it and make a timed trace with `reprise synth`")
	}
	p, err := base(t)
	if err != nil {
		return nil, err
	}
	last := int64(0)
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if j.Request.T.V < last {
			return nil, fmt.Errorf("row %d of the trace arrives before the row above it", j.Row)
		}
		if last = j.Request.T.V; last > maxInstant/1000 {
			return nil, fmt.Errorf("row %d of the trace arrives over 100 years after its zero", j.Row)
		}
		j.Sched = last * 1000
	}
	p.mode = OpenLoop
	p.Shape = Shape{Arrivals: Recorded, Absolute: int64(len(p.Jobs))}
	return p, nil
}

// base makes a job of every row of t, without an instant.
func base(t *trace.Trace) (*Plan, error) {
	if len(t.Requests) == 0 {
		return nil, errors.New("the trace has no requests: nothing to replay")
	}
	p := &Plan{Jobs: make([]Job, len(t.Requests)), rows: len(t.Requests), blockTokens: t.Header.BlockTokens}
	for i, r := range t.Requests {
		p.Jobs[i] = Job{Row: r.ID, Phase: Measure, Request: r}
		p.stride = max(p.stride, r.ID+1)
		for _, b := range r.Blocks {
			p.blocks = max(p.blocks, b+1)
		}
	}
	p.settleOutputs()
	return p, nil
}

// Mode is the mode of the run, by its name in run.json.
func (p *Plan) Mode() string {
	if p.mode == "" {
		return OpenLoop
	}
	return p.mode
}

// settleOutputs gives requests whose answer the log does not have (they failed,
// were cut off, or nobody counted) the median length of the others: left to the
// server they would write on to their cap, which is not the load of the log.
func (p *Plan) settleOutputs() {
	var known []int32
	for i := range p.Jobs {
		if out := p.Jobs[i].Request.Output; out.OK {
			known = append(known, out.V)
		}
	}
	if len(known) == 0 || len(known) == len(p.Jobs) {
		return
	}
	slices.Sort(known)
	median := known[(len(known)+1)/2-1]
	for i := range p.Jobs {
		if r := &p.Jobs[i].Request; !r.Output.OK {
			r.Output = some(median)
		}
	}
	p.Notes = append(p.Notes, fmt.Sprintf("%d of %d requests have no answer in the trace: they ask for %d tokens, the median of the others",
		len(p.Jobs)-len(known), len(p.Jobs), median))
}

// WarmUp makes every job of the first d a warm-up: sent and counted, and left
// out of the headline.
func (p *Plan) WarmUp(d time.Duration) {
	p.warm = d.Nanoseconds()
	for i := range p.Jobs {
		if p.Jobs[i].Sched < p.warm && !p.waits(i) {
			p.Jobs[i].Phase = Warmup
		}
	}
}

// Length returns the last scheduled instant; of a closed loop the time that its
// levels have, 0 where they count requests.
func (p *Plan) Length() time.Duration {
	if len(p.levels) > 0 {
		var sum time.Duration
		for _, l := range p.levels {
			sum += l.Last
		}
		return sum
	}
	if len(p.Jobs) == 0 {
		return 0
	}
	return time.Duration(p.Jobs[len(p.Jobs)-1].Sched)
}
