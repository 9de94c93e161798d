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
	Request trace.Request
}

// Plan is the schedule of a run: jobs in order of their instants. Notes says
// what had to be settled to make it.
type Plan struct {
	Jobs  []Job
	Notes []string
}

// NewPlan takes the schedule from the arrival times of t; the trace's zero is
// the run's zero. A trace without times is refused.
func NewPlan(t *trace.Trace) (*Plan, error) {
	if len(t.Requests) == 0 {
		return nil, errors.New("the trace has no requests: nothing to replay")
	}
	if !t.Timed() {
		return nil, errors.New("the trace has no arrival times, so there is no schedule to hold: fit it, then make a timed trace with `reprise synth`")
	}
	p := &Plan{Jobs: make([]Job, len(t.Requests))}
	last := int64(0)
	for i, r := range t.Requests {
		if r.T.V < last {
			return nil, fmt.Errorf("row %d of the trace arrives before the row above it", r.ID)
		}
		last = r.T.V
		p.Jobs[i] = Job{Row: r.ID, Phase: Measure, Sched: r.T.V * 1000, Request: r}
	}
	p.settleOutputs()
	return p, nil
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
	for i := range p.Jobs {
		if p.Jobs[i].Sched < d.Nanoseconds() {
			p.Jobs[i].Phase = Warmup
		}
	}
}

// Length returns the last scheduled instant.
func (p *Plan) Length() time.Duration {
	if len(p.Jobs) == 0 {
		return 0
	}
	return time.Duration(p.Jobs[len(p.Jobs)-1].Sched)
}

// ExpectedHitRate returns the share of prompt tokens that an unbounded prefix
// cache, empty at the start, could serve: the leading blocks of each prompt
// that an earlier row had, times the block size, over all prompt tokens.
func ExpectedHitRate(t *trace.Trace) float64 {
	cache := trace.NewHits()
	size := int64(t.Header.BlockTokens)
	var hit, all int64
	for i := range t.Requests {
		r := &t.Requests[i]
		in := int64(r.Input.Or(0))
		hit += min(int64(cache.Add(r.Blocks))*size, in)
		all += in
	}
	if all == 0 {
		return 0
	}
	return float64(hit) / float64(all)
}
