package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// FleetConfig says how many engines stand behind an endpoint, how requests are
// shared out and what happens to their number while they serve.
type FleetConfig struct {
	Replicas int     `json:"replicas"`         // at the zero, warm at once; 0 for 1
	Routing  Routing `json:"routing"`          // empty for round robin
	Scales   []Scale `json:"scales,omitempty"` // in order of their instants
}

// Scale sets the number of replicas at an instant. New ones take their first
// step after the cold start, with an empty cache. Surplus ones, those that came
// last, get no more requests and leave when they have none.
type Scale struct {
	At        time.Duration `json:"at_ns"` // since the engine's zero
	To        int           `json:"to"`
	ColdStart time.Duration `json:"cold_start_ns"`
}

// MaxColdStart bounds the cold start of a replica.
const MaxColdStart = 24 * time.Hour

const maxReplicas = 1024

// Validate says what is wrong with a fleet, naming the field.
func (c *FleetConfig) Validate() error {
	if c.Replicas < 0 || c.Replicas > maxReplicas {
		return fmt.Errorf("fleet: replicas is %d, give 0 to %d", c.Replicas, maxReplicas)
	}
	if _, ok := newRouter(c.Routing); !ok {
		return fmt.Errorf("fleet: no routing %q, choose from %s, %s, %s", c.Routing, RoundRobin, LeastRequests, PrefixAffinity)
	}
	last := time.Duration(0)
	for i, s := range c.Scales {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("fleet: scales[%d]: %w", i, err)
		}
		if s.At < last {
			return fmt.Errorf("fleet: scales[%d] is at %v, before the one above it", i, s.At)
		}
		last = s.At
	}
	return nil
}

// Validate says what is wrong with a scale event, naming the field.
func (s *Scale) Validate() error {
	switch {
	case s.At < 0:
		return errors.New("at is negative")
	case s.To < 1 || s.To > maxReplicas:
		return fmt.Errorf("%d replicas asked for, give 1 to %d", s.To, maxReplicas)
	case s.ColdStart < 0 || s.ColdStart > MaxColdStart:
		return fmt.Errorf("cold start is %v, give 0 to %v", s.ColdStart, MaxColdStart)
	}
	return nil
}

// Fleet is engines under one law behind one endpoint. Like an Engine it is a
// pure state machine: the caller says what time it is, and Submit, Step, Cancel,
// Rate and Stats are an Engine's. The rate limit holds for the endpoint.
type Fleet struct {
	law    Law // of a replica, without rate limit
	seed   uint64
	router router
	scales []Scale // still to come
	rate   bucket

	replicas []*Replica // in order of joining; those that leave included
	owner    map[ID]*Replica
	ids      ID
	made     int // replicas ever
	last     time.Duration
	gone     Stats // of replicas that have left, and of the endpoint
}

// Replica is one engine of a fleet.
type Replica struct {
	Number  int           // from 0, in order of joining
	Ready   time.Duration // end of the cold start
	Leaving bool

	engine *Engine
	next   time.Duration // when it wants to be stepped
	busy   bool
	stale  bool // next is to be asked for again
}

// load is the number of requests it has.
func (r *Replica) load() int { return len(r.engine.seqs) }

// NewFleet returns an idle fleet.
func NewFleet(law Law, seed uint64, c FleetConfig) (*Fleet, error) {
	if err := law.Validate(); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	router, _ := newRouter(c.Routing)
	f := &Fleet{law: law, seed: seed, router: router, scales: slices.Clone(c.Scales),
		rate: newBucket(&law), owner: map[ID]*Replica{}, gone: newStats(law.MaxModelLen)}
	f.law.RequestsPerMinute, f.law.RateBurst = 0, 0
	f.grow(max(1, c.Replicas), 0)
	return f, nil
}

// grow adds replicas that are ready at a time.
func (f *Fleet) grow(n int, ready time.Duration) {
	for range n {
		seed := f.seed
		if f.made > 0 {
			seed = Mix(f.seed + uint64(f.made)) // the first replica is the single engine of the same seed
		}
		e, err := New(f.law, seed)
		if err != nil {
			return // the law was checked by NewFleet
		}
		e.seed = f.seed // answers do not depend on who gives them
		e.model.open(ready)
		f.replicas = append(f.replicas, &Replica{Number: f.made, Ready: ready, engine: e})
		f.made++
	}
}

// Scale sets the number of replicas now; s.At is not looked at.
func (f *Fleet) Scale(now time.Duration, s Scale) error {
	s.At = 0
	if err := s.Validate(); err != nil {
		return err
	}
	f.due(now)
	f.scale(now, s)
	return nil
}

// due carries out the scale events up to now.
func (f *Fleet) due(now time.Duration) {
	for len(f.scales) > 0 && f.scales[0].At <= now {
		s := f.scales[0]
		f.scales = f.scales[1:]
		f.scale(s.At, s)
	}
}

func (f *Fleet) scale(at time.Duration, s Scale) {
	staying := 0
	for _, r := range f.replicas {
		if r.Leaving {
			continue
		}
		if staying++; staying > s.To {
			r.Leaving = true
		}
	}
	f.grow(max(0, s.To-staying), at+s.ColdStart)
	f.sweep()
}

// sweep lets replicas go that leave and have no requests, and keeps their counts.
func (f *Fleet) sweep() {
	f.replicas = slices.DeleteFunc(f.replicas, func(r *Replica) bool {
		if !r.Leaving || r.load() > 0 {
			return false
		}
		s := r.engine.Stats()
		f.gone.merge(&s)
		return true
	})
}

// Submit brings a request in at now and routes it. See Engine.Submit.
func (f *Fleet) Submit(now time.Duration, r Request) (ID, error) {
	now = max(now, f.last)
	f.last = now
	f.due(now)
	if wait := f.rate.take(now); wait > 0 {
		f.gone.Rejected.Rate++
		return 0, &RateError{RetryAfter: wait}
	}
	to := f.router.pick(f.candidates(now), &r)
	f.ids++
	to.engine.ids = f.ids - 1 // ids are the fleet's
	id, err := to.engine.Submit(now, r)
	if err != nil {
		f.ids--
		return 0, err
	}
	to.stale = true
	f.owner[id] = to
	return id, nil
}

// candidates are the replicas that take requests: those that are ready, or,
// while none is, those that start.
func (f *Fleet) candidates(now time.Duration) []*Replica {
	var ready, starting []*Replica
	for _, r := range f.replicas {
		switch {
		case r.Leaving:
		case r.Ready <= now:
			ready = append(ready, r)
		default:
			starting = append(starting, r)
		}
	}
	if len(ready) == 0 {
		return starting
	}
	return ready
}

// Step brings the fleet up to now by one instant of one replica at most, the
// earliest. See Engine.Step.
func (f *Fleet) Step(now time.Duration, dst []Event) ([]Event, time.Duration, bool) {
	f.due(now)
	var first *Replica
	for _, r := range f.replicas {
		if r.stale {
			r.next, r.busy = r.engine.model.schedule(now)
			r.stale = false
		}
		if r.busy && (first == nil || r.next < first.next) {
			first = r
		}
	}
	if first == nil {
		return dst, 0, false
	}
	if first.next > now {
		return dst, first.next, true
	}
	n := len(dst)
	dst, first.next, first.busy = first.engine.Step(now, dst)
	f.forget(dst[n:])
	return f.soonest(dst)
}

// forget drops the requests that have ended.
func (f *Fleet) forget(events []Event) {
	for _, ev := range events {
		if ev.Finish != Going {
			r := f.owner[ev.ID]
			delete(f.owner, ev.ID)
			if r.Leaving {
				f.sweep()
			}
		}
	}
}

// soonest returns the earliest instant of all replicas.
func (f *Fleet) soonest(dst []Event) ([]Event, time.Duration, bool) {
	next, busy := time.Duration(0), false
	for _, r := range f.replicas {
		if r.busy && (!busy || r.next < next) {
			next, busy = r.next, true
		}
	}
	return dst, next, busy
}

// Cancel drops a request. It reports whether the request was still there.
func (f *Fleet) Cancel(now time.Duration, id ID) bool {
	r, ok := f.owner[id]
	if !ok {
		return false
	}
	r.engine.Cancel(now, id)
	r.stale = true
	delete(f.owner, id)
	f.sweep()
	return true
}

// Rate is the state of the endpoint's rate limit at now.
func (f *Fleet) Rate(now time.Duration) Rate { return f.rate.state(max(now, f.last)) }
