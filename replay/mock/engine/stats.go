package engine

import (
	"slices"
	"time"
)

// Stats is the engine's own view, as vLLM's metrics name it. Counters count from
// the engine's zero.
type Stats struct {
	Running, Waiting int
	KVUsage          float64 // share of blocks held by running sequences

	PrefixQueries, PrefixHits int64 // prompt tokens
	PromptTokens              int64
	GenerationTokens          int64
	Preemptions               int64
	Steps                     int64
	Ended                     [finishes]int64 // by Finish
	Rejected                  Rejected

	// Seconds; all but TTFT and ITL of requests that have ended.
	TTFT, ITL, E2E, Queue            Histogram
	Prefill, Decode, Inference, TPOT Histogram

	// Tokens of a request that has ended; Iteration of a step.
	Prompt, Generation, MaxGeneration, AskedTokens, Computed, Choices, Iteration Histogram

	Preempted Histogram // times, of a request that has ended
}

// histograms are all of them.
func (s *Stats) histograms() []*Histogram {
	return []*Histogram{&s.TTFT, &s.ITL, &s.E2E, &s.Queue, &s.Prefill, &s.Decode, &s.Inference, &s.TPOT,
		&s.Prompt, &s.Generation, &s.MaxGeneration, &s.AskedTokens, &s.Computed, &s.Choices, &s.Iteration, &s.Preempted}
}

// Rejected counts the requests that the engine refused.
type Rejected struct {
	Rate, Length, Queue int64
}

// Histogram counts values up to each bound, and above the last.
type Histogram struct {
	Bounds []float64
	Counts []int64 // one more than Bounds; not cumulative
	Sum    float64
}

func newHistogram(bounds ...float64) Histogram {
	return Histogram{Bounds: bounds, Counts: make([]int64, len(bounds)+1)}
}

func (h *Histogram) add(v time.Duration) { h.count(v.Seconds()) }

func (h *Histogram) count(v float64) {
	i, _ := slices.BinarySearch(h.Bounds, v)
	h.Counts[i]++
	h.Sum += v
}

func (h Histogram) clone() Histogram {
	h.Counts = slices.Clone(h.Counts)
	return h
}

// newStats has the buckets of vLLM's V1 loggers.py, 2026; those of tokens go up
// to the longest context.
func newStats(maxModelLen int) Stats {
	s := Stats{
		TTFT: newHistogram(.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
		// The gap between two tokens, and its mean over a request.
		ITL:       newHistogram(.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
		TPOT:      newHistogram(.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
		Iteration: newHistogram(1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384),
		Choices:   newHistogram(1, 2, 5, 10, 20),
		Preempted: newHistogram(1, 2, 3, 4, 5, 10, 20),
	}
	for _, h := range []*Histogram{&s.E2E, &s.Queue, &s.Prefill, &s.Decode, &s.Inference} {
		*h = newHistogram(.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
	}
	for _, h := range []*Histogram{&s.Prompt, &s.Generation, &s.MaxGeneration, &s.AskedTokens, &s.Computed} {
		*h = newHistogram(oneTwoFive(maxModelLen)...)
	}
	return s
}

// oneTwoFive are 1, 2, 5, 10, 20, 50 and so on up to most.
func oneTwoFive(most int) (out []float64) {
	for scale := 1; scale <= most; scale *= 10 {
		for _, m := range []int{1, 2, 5} {
			if m*scale <= most {
				out = append(out, float64(m*scale))
			}
		}
	}
	return out
}

func (s *Stats) clone() Stats {
	c := *s
	for _, h := range c.histograms() {
		*h = h.clone()
	}
	return c
}

// admitted counts a first admission.
func (s *Stats) admitted(q *seq, cache bool) {
	if cache {
		s.PrefixQueries += int64(q.prompt)
		s.PrefixHits += int64(q.cached)
	}
}

// token counts an output token at an instant.
func (s *Stats) token(q *seq, at time.Duration) {
	s.GenerationTokens++
	if q.out == 1 {
		s.PromptTokens += int64(q.prompt)
		s.TTFT.add(at - q.arrived)
		q.first = at
	} else {
		s.ITL.add(at - q.last)
	}
}

// ended counts a request that is over.
func (s *Stats) ended(q *seq, how Finish, at time.Duration) {
	s.Ended[how]++
	if how == Abort {
		return
	}
	s.E2E.add(at - q.arrived)
	s.Queue.add(q.started - q.arrived)
	s.Prefill.add(q.first - q.started)
	s.Decode.add(at - q.first)
	s.Inference.add(at - q.started)
	s.TPOT.add((at - q.first) / time.Duration(max(q.out-1, 1)))
	s.Prompt.count(float64(q.prompt))
	s.Computed.count(float64(q.prompt - q.cached))
	s.Generation.count(float64(q.out))
	s.MaxGeneration.count(float64(q.out))
	s.AskedTokens.count(float64(q.most))
	s.Choices.count(1)
	s.Preempted.count(float64(q.preempted))
}

// step counts the tokens of a step: a prompt when its first token comes, and
// each token that does, as vLLM does.
func (s *Stats) step(seqs []*seq) {
	n := 0
	for _, q := range seqs {
		n++
		if q.out == 1 {
			n += int(q.prompt)
		}
	}
	if n > 0 {
		s.Iteration.count(float64(n))
	}
}
