package replay

import (
	"errors"
	"fmt"
	"time"

	"reprise/trace"
)

// The modes of a run (Run.Mode).
const (
	OpenLoop   = "open_loop"   // every request has an absolute instant
	ClosedLoop = "closed_loop" // a fixed number is under way; an answer lets the next one go
	Ramp       = "ramp"        // open loop at a rate that changes
	Sessions   = "sessions"    // further turns of a session go a think time after the answer
)

// Shape is the load that a plan offered, for run.json.
type Shape struct {
	Arrivals    string      `json:"arrivals,omitempty"` // trace, spec, constant, poisson, gamma; none in a closed loop
	CV          float64     `json:"cv,omitempty"`       // of gaps, for gamma
	Seed        uint64      `json:"seed,omitempty"`     // of the arrivals drawn
	Absolute    int64       `json:"absolute_instants"`  // requests whose instant the schedule states
	AfterAnswer int64       `json:"after_answer"`       // requests whose instant follows from an answer
	Think       string      `json:"think,omitempty"`    // where the time from that answer comes from: trace, spec, mixed, arrivals
	Points      []LoadPoint `json:"points"`
}

// LoadPoint is one value of the column point: the load of one step.
type LoadPoint struct {
	Point       int32   `json:"point"`
	Concurrency int     `json:"concurrency,omitempty"`
	FromPerS    float64 `json:"from_per_s,omitempty"` // planned rate, 1/s, at its beginning
	ToPerS      float64 `json:"to_per_s,omitempty"`   // and end
	LastS       float64 `json:"last_s,omitempty"`     // planned time, s; absent where requests are counted
	Planned     int64   `json:"planned,omitempty"`    // requests, where that is known beforehand
}

// NewArrivalPlan sends the requests of t, in their order, at the instants of an
// arrival process: all of them once, or for a rate that ends as many as come
// until then. Past the last row the trace begins anew with prefixes of its own
// (see Job.Pass). Steps of the rate are load points, by time.
func NewArrivalPlan(t *trace.Trace, a Arrivals) (*Plan, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	p, err := base(t)
	if err != nil {
		return nil, err
	}
	ends := a.Rate.Length() > 0
	if ends && a.Rate.Expected() > maxJobs {
		return nil, fmt.Errorf("%.3g requests are too many for one run: a lower rate, or a shorter time", a.Rate.Expected())
	}
	rows, out := p.Jobs, []Job(nil)
	if !ends && len(rows) > maxJobs {
		return nil, fmt.Errorf("%d requests are too many for one run: a part of the trace (reprise cut), or a time that it lasts", len(rows))
	}
	for ns := range a.Times() {
		i := len(out)
		if !ends && i == len(rows) || i >= maxJobs {
			break
		}
		j := p.pass(i)
		j.Sched, j.Point = ns, int32(a.Rate.step(ns))
		out = append(out, j)
	}
	if !ends && len(out) < len(rows) {
		return nil, errors.New("at this rate the requests take over 100 years: a higher rate, or a time that it lasts")
	}
	if len(out) == 0 {
		return nil, errors.New("no request comes within the time: a higher rate, or a longer time")
	}
	p.Jobs = out
	p.mode = OpenLoop
	p.Shape = Shape{Arrivals: a.Process, CV: a.CV, Seed: a.Seed, Absolute: int64(len(out))}
	for i, s := range a.Rate {
		p.Shape.Points = append(p.Shape.Points, LoadPoint{Point: int32(i), FromPerS: s.From, ToPerS: s.To, LastS: s.Last.Seconds()})
		if s.From != s.To || len(a.Rate) > 1 {
			p.mode = Ramp
		}
	}
	if a.Process != Gamma {
		p.Shape.CV = 0
	}
	if a.Process == Constant {
		p.Shape.Seed = 0
	}
	p.countPoints()
	p.notePasses(len(out))
	return p, nil
}

// countPoints counts the jobs of each load point.
func (p *Plan) countPoints() {
	n := map[int32]int64{}
	for i := range p.Jobs {
		n[p.Jobs[i].Point]++
	}
	for i := range p.Shape.Points {
		p.Shape.Points[i].Planned = n[p.Shape.Points[i].Point]
	}
}

// maxJobs bounds the requests of a plan, about 5 GB of them.
const maxJobs = 20_000_000

// Level is one step of a closed loop: so many requests under way, until the
// trace was sent once, or for a time.
type Level struct {
	Concurrency int
	Last        time.Duration // 0: every request of the trace once
	Warmup      time.Duration // requests let go before this are warm-up
	Stagger     time.Duration // the first requests start evenly over this
}

// NewClosedPlan sends the requests of t in their order, closed loop, at one
// level after the other; each begins when the one before has its last answer,
// and has the next pass of the trace, or goes on in it. There is no schedule:
// the instant of a request is that when its slot was free.
func NewClosedPlan(t *trace.Trace, levels []Level) (*Plan, error) {
	p, err := base(t)
	if err != nil {
		return nil, err
	}
	if len(levels) == 0 {
		return nil, errors.New("a closed loop has no level")
	}
	p.mode, p.levels = ClosedLoop, levels
	for i, l := range levels {
		switch {
		case l.Concurrency < 1 || l.Concurrency > maxConcurrency:
			return nil, fmt.Errorf("a concurrency of %d is not between 1 and %d", l.Concurrency, maxConcurrency)
		case l.Last < 0 || l.Warmup < 0 || l.Stagger < 0:
			return nil, errors.New("a time is negative")
		case l.Last > 0 && l.Warmup >= l.Last:
			return nil, fmt.Errorf("a warm-up of %v leaves nothing of %v to measure", l.Warmup, l.Last)
		case (l.Last == 0) != (levels[0].Last == 0):
			return nil, errors.New("either every level has a time or none")
		}
		p.Shape.Points = append(p.Shape.Points, LoadPoint{Point: int32(i), Concurrency: l.Concurrency, LastS: l.Last.Seconds()})
	}
	if !p.timed() {
		for i := range p.Shape.Points {
			p.Shape.Points[i].Planned = int64(p.rows)
		}
	}
	return p, nil
}

// maxConcurrency bounds the slots of a closed loop, each a goroutine.
const maxConcurrency = 1_000_000

// timed tells whether the levels of a closed loop end by time, so that the
// number of requests is not known beforehand.
func (p *Plan) timed() bool { return len(p.levels) > 0 && p.levels[0].Last > 0 }

// shape is the shape as run.json has it, nil of a plan that was put together by
// hand.
func (p *Plan) shape() *Shape {
	if p.mode == "" {
		return nil
	}
	s := p.Shape
	s.Points = listed(s.Points)
	return &s
}

// clock says how instants come about and are held.
func (p *Plan) clock(w Waiter, s Stamper) Clock {
	schedule := map[string]string{ClosedLoop: "slots", Sessions: "absolute+think"}[p.mode]
	if schedule == "" {
		schedule = "absolute"
	}
	return Clock{Schedule: schedule, Wait: w.Name(), Stamps: s.Stamps()}
}

// Sentence says what load it is, for people, for instance "open loop, Poisson
// arrivals at 5 requests/s". mode is that of the run.
func (s *Shape) Sentence(mode string) string {
	switch mode {
	case ClosedLoop:
		return fmt.Sprintf("closed loop, %s under way at once: the server's answers set the pace", s.concurrencies())
	case Sessions:
		whose := map[string]string{ThinkSpec: ", drawn from the spec,", ThinkArrivals: ", as long as from arrival to arrival,"}[s.Think]
		return fmt.Sprintf("%d requests at absolute instants (open loop), %d further turns a think time%s after the answer before", s.Absolute, s.AfterAnswer, whose)
	case Ramp:
		first, last := s.Points[0], s.Points[len(s.Points)-1]
		steps := ""
		if len(s.Points) > 1 {
			steps = fmt.Sprintf(" in %d steps", len(s.Points))
		}
		return fmt.Sprintf("ramp from %.6g to %.6g requests/s%s, %s arrivals", first.FromPerS, last.ToPerS, steps, s.Process())
	}
	if len(s.Points) == 0 {
		return "open loop at the instants of the " + s.Arrivals
	}
	return fmt.Sprintf("open loop, %s arrivals at %.6g requests/s", s.Process(), s.Points[0].FromPerS)
}

func (s *Shape) concurrencies() string {
	text := ""
	for i, p := range s.Points {
		if i > 0 {
			text += ", then "
		}
		text += fmt.Sprint(p.Concurrency)
	}
	return text
}

// Process names the arrivals, for people.
func (s *Shape) Process() string {
	switch s.Arrivals {
	case Poisson:
		return "Poisson"
	case Gamma:
		return fmt.Sprintf("gamma (CV %.6g)", s.CV)
	}
	return s.Arrivals
}
