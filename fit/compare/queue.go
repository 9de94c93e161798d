package compare

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// The queue probe sends both arrivals through one queue, first come first
// served, with as many servers as the reference loads to probeLoad. A request
// is served for probeInput·input + probeOutput·output seconds, of a pair drawn
// from the reference: the same draws for both, so that arrivals alone differ.
const (
	probeInput  = 0.0002
	probeOutput = 0.02
	probeLoad   = 0.75
	probeSeeds  = 20
	maxProbe    = 1_000_000 // arrivals
)

// waits is the mean over seeds of the mean and of the 99th percentile of the
// wait, in seconds, with the standard deviations over seeds.
type waits struct{ mean, meanSD, p99, p99SD float64 }

// servers is how many the reference needs at probeLoad.
func servers(ref *side) int {
	if len(ref.times) < 2 || len(ref.pairIn) == 0 {
		return 0
	}
	var work float64
	for i := range ref.pairIn {
		work += service(ref, i)
	}
	span := float64(ref.times[len(ref.times)-1]-ref.times[0]) / 1e6
	if span <= 0 {
		return 0
	}
	erlang := work / float64(len(ref.pairIn)) * float64(len(ref.times)) / span
	return int(math.Ceil(erlang / probeLoad))
}

func service(ref *side, i int) float64 {
	return float64(probeInput*float64(ref.pairIn[i])) + float64(probeOutput*float64(ref.pairOut[i]))
}

// probe sends times through c servers.
func probe(times []int64, ref *side, c int) waits {
	if len(times) > maxProbe {
		times = times[:maxProbe]
	}
	var means, tails []float64
	wait := make([]float64, len(times))
	for seed := range uint64(probeSeeds) {
		rng := rand.New(rand.NewPCG(seed, 17))
		queue(wait, times, c, func() float64 { return service(ref, rng.IntN(len(ref.pairIn))) })
		var sum float64
		for _, w := range wait {
			sum += w
		}
		means = append(means, sum/float64(len(wait)))
		slices.Sort(wait)
		tails = append(tails, wait[int(math.Ceil(0.99*float64(len(wait))))-1])
	}
	var w waits
	w.mean, w.meanSD = spread(means)
	w.p99, w.p99SD = spread(tails)
	return w
}

// queue fills wait with the waits of a G/G/c queue in order of arrival.
func queue(wait []float64, times []int64, c int, service func() float64) {
	free := make(instants, c) // when each server is free; all are at the start
	for i := range free {
		free[i] = math.Inf(-1)
	}
	for i, t := range times {
		at := float64(t) / 1e6
		begin := max(at, free[0])
		wait[i] = begin - at
		free[0] = begin + service()
		heap.Fix(&free, 0)
	}
}

// instants is a heap of times.
type instants []float64

func (h instants) Len() int           { return len(h) }
func (h instants) Less(i, j int) bool { return h[i] < h[j] }
func (h instants) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *instants) Push(any)          {}
func (h *instants) Pop() any          { return nil }

func spread(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += float64((v-mean)*(v-mean)) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}

// queueMetrics sends the reference, every draw and the baseline through the
// queue. There are none without times, or without both lengths.
func queueMetrics(ref *side, others []*side, base *side, l Limits) []Metric {
	c := servers(ref)
	if c == 0 {
		return nil
	}
	a, p := probe(ref.times, ref, c), probe(base.times, ref, c)
	means, tails := make([][]Metric, len(others)), make([][]Metric, len(others))
	for i, s := range others {
		if len(s.times) < 2 {
			return nil
		}
		b := probe(s.times, ref, c)
		means[i] = []Metric{queueMetric(l, ref, c, "mean wait", a.mean, a.meanSD, b.mean, p.mean)}
		tails[i] = []Metric{queueMetric(l, ref, c, "p99 wait", a.p99, a.p99SD, b.p99, p.p99)}
	}
	return append(mean(means), mean(tails)...)
}

// queueMetric passes within the limit or two standard deviations of the
// reference under its own service draws.
func queueMetric(l Limits, ref *side, c int, name string, a, sd, b, base float64) Metric {
	m := Metric{Section: sectionQueue, Name: fmt.Sprintf("%s, %d servers", name, c), Unit: "s", How: Ratio, A: some(a), B: some(b)}
	if a == 0 {
		m.Why = "told only: the reference does not queue"
		return m
	}
	m.Off, m.Noise, m.Baseline = some(Ratio.of(a, b)), some(2*sd/a), some(Ratio.of(a, base))
	if v, ok := l.limit(&m, ref, ref); ok {
		m.Limit = some(v)
	}
	return m
}
