package mock

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

	TTFT, ITL, E2E, Queue Histogram // seconds
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

func (h *Histogram) add(v time.Duration) {
	s := v.Seconds()
	i, _ := slices.BinarySearch(h.Bounds, s)
	h.Counts[i]++
	h.Sum += s
}

func (h Histogram) clone() Histogram {
	h.Counts = slices.Clone(h.Counts)
	return h
}

// newStats has the buckets of vLLM's V1 loggers.py, 2026.
func newStats() Stats {
	latency := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	return Stats{
		TTFT:  newHistogram(.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
		ITL:   newHistogram(.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
		E2E:   newHistogram(latency...),
		Queue: newHistogram(latency...),
	}
}

func (s *Stats) clone() Stats {
	c := *s
	c.TTFT, c.ITL, c.E2E, c.Queue = s.TTFT.clone(), s.ITL.clone(), s.E2E.clone(), s.Queue.clone()
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
		s.Queue.add(q.started - q.arrived)
	} else {
		s.ITL.add(at - q.last)
	}
}

// ended counts a request that is over.
func (s *Stats) ended(q *seq, how Finish, at time.Duration) {
	s.Ended[how]++
	if how != Abort {
		s.E2E.add(at - q.arrived)
	}
}
