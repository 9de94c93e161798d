package engine

import (
	"fmt"
	"math"
	"time"
)

// Engine is the state of an inference engine under a Law. It has no clock and
// no goroutine: the caller says what time it is, as the time since the engine's
// zero. The same calls with the same times give the same events.
type Engine struct {
	law   Law
	seed  uint64
	model model
	rate  bucket
	seqs  map[ID]*seq
	ids   ID
	last  time.Duration // latest arrival
	stats Stats
}

// model is the part of an engine that decides when tokens come.
type model interface {
	add(*seq)
	// complete returns the sequences that get a token at the earliest instant
	// not after now, and that instant. The slice is good until the next call.
	complete(now time.Duration) ([]*seq, time.Duration)
	// remove forgets a sequence that has ended, or was cancelled.
	remove(*seq)
	// schedule begins what can begin by now and returns when to come back;
	// false: nothing will happen before the next add.
	schedule(now time.Duration) (time.Duration, bool)
	gauges() (running, waiting int, kv float64)
	// open says from when on it works: the end of a cold start.
	open(at time.Duration)
	// holds counts the leading blocks of a prompt that the prefix cache has.
	holds(blocks []uint64) int
}

// New returns an idle engine.
func New(law Law, seed uint64) (*Engine, error) {
	if err := law.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{law: law, seed: seed, seqs: map[ID]*seq{}, rate: newBucket(&law), stats: newStats(law.MaxModelLen)}
	if law.Plain != nil {
		e.model = &plainModel{law: *law.Plain}
	} else {
		e.model = newBatcher(&e.law, seed, &e.stats)
	}
	return e, nil
}

// Submit brings a request in at now. Times before an earlier arrival count as
// that arrival. Errors: *RateError (429), *LengthError (400), *QueueError (503).
// The engine acts on it in the next Step.
func (e *Engine) Submit(now time.Duration, r Request) (ID, error) {
	now = max(now, e.last)
	e.last = now
	if wait := e.rate.take(now); wait > 0 {
		e.stats.Rejected.Rate++
		return 0, &RateError{RetryAfter: wait}
	}
	limit := int32(e.law.MaxModelLen)
	if r.Prompt < 1 {
		return 0, fmt.Errorf("the prompt has no tokens")
	}
	if r.MaxTokens < 0 || r.Prompt >= limit || r.MaxTokens > limit-r.Prompt {
		e.stats.Rejected.Length++
		return 0, &LengthError{Prompt: r.Prompt, MaxTokens: r.MaxTokens, Limit: limit}
	}
	if running, waiting, _ := e.model.gauges(); e.law.Plain == nil && e.law.MaxWaiting > 0 && running+waiting >= e.law.MaxSeqs+e.law.MaxWaiting {
		e.stats.Rejected.Queue++
		return 0, &QueueError{Waiting: waiting}
	}
	s := e.newSeq(now, r)
	e.seqs[s.id] = s
	e.model.add(s)
	return s.id, nil
}

// newSeq decides how long the answer will be.
func (e *Engine) newSeq(now time.Duration, r Request) *seq {
	e.ids++
	most := r.MaxTokens
	if most == 0 {
		most = int32(e.law.MaxModelLen) - r.Prompt
	}
	s := &seq{id: e.ids, prompt: r.Prompt, target: most, most: most, finish: Length, hashes: r.Blocks, hit: r.Hit, arrived: now, started: -1}
	s.ready = now + micros(e.law.IngressUS)
	if r.IgnoreEOS {
		return s
	}
	if natural := max(e.law.Output.draw(e.seed, r.Draw), shortest(r.MinTokens)); natural <= most {
		s.target, s.finish = natural, Stop
	}
	return s
}

// Step brings the engine up to now by one instant at most: it appends to dst
// the tokens of the earliest step that has ended, and begins the next step. It
// returns the time at which to call again, which may already have passed, or
// false when nothing will happen before the next Submit. A step begins when the
// one before it ended, however late the call.
func (e *Engine) Step(now time.Duration, dst []Event) ([]Event, time.Duration, bool) {
	seqs, at := e.model.complete(now)
	for _, s := range seqs {
		s.out++
		e.stats.token(s, at)
		s.last = at
		ev := Event{ID: s.id, At: at, N: s.out, Cached: s.cached, Target: s.target}
		if s.out == s.target {
			ev.Finish = s.finish
			e.end(s)
			e.stats.ended(s, s.finish, at)
		}
		dst = append(dst, ev)
	}
	if e.law.Plain == nil {
		e.stats.step(seqs)
	}
	next, ok := e.model.schedule(now)
	return dst, next, ok
}

// Cancel drops a request and frees its blocks. It reports whether the request
// was still there.
func (e *Engine) Cancel(now time.Duration, id ID) bool {
	s, ok := e.seqs[id]
	if ok {
		e.end(s)
		e.stats.ended(s, Abort, max(now, s.arrived))
	}
	return ok
}

func (e *Engine) end(s *seq) {
	e.model.remove(s)
	delete(e.seqs, s.id)
}

// Rate is the state of the rate limit at now.
func (e *Engine) Rate(now time.Duration) Rate { return e.rate.state(max(now, e.last)) }

// Stats returns a copy of the engine's counters and gauges.
func (e *Engine) Stats() Stats {
	s := e.stats.clone()
	s.Running, s.Waiting, s.KVUsage = e.model.gauges()
	return s
}

// shortest is the fewest tokens of an answer that ends by itself: the end token
// is one of them and comes after min_tokens others (vLLM 0.32 answers
// min_tokens 3 with 4 completion tokens).
func shortest(minTokens int32) int32 {
	if minTokens <= 0 || minTokens == math.MaxInt32 {
		return minTokens
	}
	return minTokens + 1
}
