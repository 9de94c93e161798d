package simulate

import (
	"time"

	"reprise/replay/mock/engine"
)

// Timed is a request and the time of its arrival since the engine's zero.
type Timed struct {
	At time.Duration
	engine.Request
}

// Outcome is what became of a request in a simulation.
type Outcome struct {
	TTFT   time.Duration // from arrival to the first token
	E2E    time.Duration // from arrival to the last token
	Tokens int32         // output tokens
	Cached int32         // prompt tokens from the prefix cache
	Finish engine.Finish // Going: it was refused, and the rest is zero
}

// TPOT is the time between output tokens, mean over the answer; zero for an
// answer of one token.
func (o *Outcome) TPOT() time.Duration {
	if o.Tokens < 2 {
		return 0
	}
	return (o.E2E - o.TTFT) / time.Duration(o.Tokens-1)
}

// Run runs requests, in order of arrival, through one engine in virtual
// time until all have ended. Outcome k is of request k. The same arguments give
// the same outcomes.
func Run(law engine.Law, seed uint64, in []Timed) ([]Outcome, error) {
	out, _, err := RunFleet(law, seed, engine.FleetConfig{}, in, nil)
	return out, err
}

// RunFleet is Run with a fleet. It hands every token to each, if that
// is not nil, with the index of its request, and returns the fleet's own view too.
func RunFleet(law engine.Law, seed uint64, c engine.FleetConfig, in []Timed, each func(k int, ev engine.Event)) ([]Outcome, engine.Stats, error) {
	f, err := engine.NewFleet(law, seed, c)
	if err != nil {
		return nil, engine.Stats{}, err
	}
	s := simulation{fleet: f, in: in, out: make([]Outcome, len(in)), each: each}
	for k := range in {
		s.until(in[k].At)
		s.now = max(s.now, in[k].At)
		_, err := f.Submit(s.now, in[k].Request)
		if err == nil {
			// Ids count from 1 the requests that were taken in.
			s.index = append(s.index, k)
			s.next, s.busy = s.now, true
		}
	}
	s.until(1<<63 - 1)
	return s.out, f.Stats(), nil
}

// simulation is a run in virtual time.
type simulation struct {
	fleet *engine.Fleet
	in    []Timed
	out   []Outcome
	each  func(int, engine.Event)
	index []int // request of an id, less one
	now   time.Duration
	next  time.Duration // when to step again, if busy
	busy  bool
	buf   []engine.Event
}

// until runs all that happens up to a time.
func (s *simulation) until(limit time.Duration) {
	for s.busy && s.next <= limit {
		s.now = max(s.now, s.next)
		s.buf, s.next, s.busy = s.fleet.Step(s.now, s.buf[:0])
		for _, ev := range s.buf {
			s.take(ev)
		}
	}
}

func (s *simulation) take(ev engine.Event) {
	k := s.index[ev.ID-1]
	o := &s.out[k]
	if ev.N == 1 {
		o.TTFT, o.Cached = ev.At-s.in[k].At, ev.Cached
	}
	if ev.Finish != engine.Going {
		o.E2E, o.Tokens, o.Finish = ev.At-s.in[k].At, ev.N, ev.Finish
	}
	if s.each != nil {
		s.each(k, ev)
	}
}
