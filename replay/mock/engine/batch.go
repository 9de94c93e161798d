package engine

import (
	"math/rand/v2"
	"slices"
	"time"
)

// batcher is the continuous batching of step loops such as vLLM's: one
// step after the other, decodes first, then chunked prefill.
type batcher struct {
	law     *Law
	rng     *rand.Rand // of the jitter
	pool    *pool
	stats   *Stats
	running []*seq // in order of admission
	waiting []*seq // preempted ones in front, then in order of arrival
	busy    bool   // a step is in progress
	end     time.Duration
	worked  time.Duration // length of all steps
	emit    []*seq        // reused
}

func newBatcher(law *Law, seed uint64, stats *Stats) *batcher {
	const jitterStream = 0x6a697474 // one random stream per purpose
	b := &batcher{law: law, rng: rand.New(rand.NewPCG(seed, jitterStream)), pool: newPool(law.Blocks), stats: stats}
	b.pool.unit = law.unit()
	return b
}

func (b *batcher) add(s *seq) {
	if !b.law.PrefixCache {
		s.hashes = nil
	}
	b.waiting = append(b.waiting, s)
}

func (b *batcher) gauges() (int, int, float64) {
	return len(b.running), len(b.waiting), 1 - float64(b.pool.free)/float64(b.law.Blocks)
}

func (b *batcher) open(at time.Duration) { b.end = at }

func (b *batcher) holds(blocks []uint64) int { return b.pool.leading(blocks) }

func (b *batcher) complete(now time.Duration) ([]*seq, time.Duration) {
	if !b.busy || b.end > now {
		return nil, 0
	}
	b.busy = false
	b.emit = b.emit[:0]
	for _, s := range b.running {
		if s.chunk == 0 {
			continue
		}
		s.computed += s.chunk
		s.chunk = 0
		if s.computed == s.total() {
			b.emit = append(b.emit, s)
		}
	}
	b.stats.Steps++
	return b.emit, b.end
}

func (b *batcher) remove(s *seq) {
	b.pool.release(s)
	if i := slices.Index(b.running, s); i >= 0 {
		b.running = slices.Delete(b.running, i, i+1)
	} else if i := slices.Index(b.waiting, s); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	}
}

// schedule begins a step at the end of the last one, or, when nothing runs, as
// soon as the first waiting request is ready.
func (b *batcher) schedule(now time.Duration) (time.Duration, bool) {
	if b.busy {
		return b.end, true
	}
	start := b.end
	if len(b.running) == 0 {
		if len(b.waiting) == 0 {
			return 0, false
		}
		start = max(start, b.waiting[0].ready)
	}
	if start > now {
		return start, true
	}
	b.fill(start)
	b.end = start + b.law.stepTime(b.load())
	b.worked += b.end - start
	b.busy = true
	return b.end, true
}

// load sums up the batch for the law of step time.
func (b *batcher) load() (decodes, kv, prefill int, rng *rand.Rand) {
	for _, s := range b.running {
		if s.decoding() {
			decodes++
			kv += int(s.computed)
		} else {
			prefill += int(s.chunk)
		}
	}
	return decodes, kv, prefill, b.rng
}

// fill chooses what the step that begins at start computes.
func (b *batcher) fill(start time.Duration) {
	preempted := b.stats.Preemptions
	budget := int32(b.law.MaxBatched) - b.decodes()
	for _, s := range b.running {
		if !s.decoding() {
			budget -= b.prefill(s, budget)
		}
	}
	if b.stats.Preemptions > preempted {
		return // memory is short: what came back must not push out what stayed
	}
	for budget > 0 && len(b.waiting) > 0 && len(b.running) < b.law.MaxSeqs {
		s := b.waiting[0]
		if s.ready > start || !b.admit(s, start) {
			return
		}
		b.waiting = slices.Delete(b.waiting, 0, 1)
		b.running = append(b.running, s)
		budget -= b.prefill(s, budget)
	}
}

// decodes gives every decoding sequence its token and returns how many there
// are. One that lacks a block takes it from the last admitted sequence.
func (b *batcher) decodes() int32 {
	var n int32
	for i := 0; i < len(b.running); i++ {
		s := b.running[i]
		if !s.decoding() {
			continue
		}
		for len(b.running) > i && !b.pool.grow(s) {
			b.preempt()
		}
		if len(b.running) > i {
			s.chunk = 1
			n++
		}
	}
	return n
}

// preempt sends the last admitted sequence back to wait; all of its KV will be
// recomputed, but for what the prefix cache still holds.
func (b *batcher) preempt() {
	s := b.running[len(b.running)-1]
	b.running = b.running[:len(b.running)-1]
	b.pool.release(s)
	s.computed, s.chunk = 0, 0
	b.waiting = slices.Insert(b.waiting, 0, s)
	b.stats.Preemptions++
	s.preempted++
}

// prefill gives a sequence a chunk of at most budget tokens.
func (b *batcher) prefill(s *seq, budget int32) int32 {
	s.chunk = min(s.total()-s.computed, budget)
	b.pool.learn(s, s.computed+s.chunk)
	return s.chunk
}

// admit takes the blocks of every token a waiting sequence has, cached ones
// first; false when they are not to be had.
func (b *batcher) admit(s *seq, start time.Duration) bool {
	spare := 0
	if len(b.running) > 0 {
		spare = int(b.law.Watermark * float64(b.law.Blocks))
	}
	hits, ok := b.pool.admit(s, spare)
	if !ok {
		return false
	}
	s.computed = int32(hits * BlockTokens)
	if s.hit > 0 {
		s.computed = min(s.hit, s.total()-1)
	}
	if s.started < 0 {
		s.started, s.cached = start, s.computed
		b.stats.admitted(s, b.law.PrefixCache)
	}
	return true
}
