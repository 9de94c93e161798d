package compare

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"reprise/fit"
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
// wait, in seconds, with the standard deviations over seeds, and each seed's own.
type waits struct {
	mean, meanSD, p99, p99SD float64
	means, tails             []float64
}

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
	var w waits
	wait := make([]float64, len(times))
	for seed := range uint64(probeSeeds) {
		m, t := probeOnce(wait, times, ref, c, seed)
		w.means, w.tails = append(w.means, m), append(w.tails, t)
	}
	w.mean, w.meanSD = spread(w.means)
	w.p99, w.p99SD = spread(w.tails)
	return w
}

// probeOnce is the mean and the 99th percentile of the wait under one seed; wait
// is room for as many as there are times.
func probeOnce(wait []float64, times []int64, ref *side, c int, seed uint64) (mean, p99 float64) {
	rng := rand.New(rand.NewPCG(seed, 17))
	queue(wait, times, c, func() float64 { return service(ref, rng.IntN(len(ref.pairIn))) })
	var sum float64
	for _, w := range wait {
		sum += w
	}
	slices.Sort(wait)
	return sum / float64(len(wait)), wait[int(math.Ceil(0.99*float64(len(wait))))-1]
}

// probeNoise is the 95th percentile of how far the waits of the reference are off
// when its arrivals are drawn anew, under the same service times: the seconds of
// each minute with replacement; or only in another order, where the draws have
// the reference's own count in each minute. Minutes stay in place, since their
// rates are what waits come of.
func probeNoise(ref *side, c int, of waits, replayed bool, seed uint64) (mean, p99 float64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	var means, tails []float64
	step := fit.DetectResolution(fit.Gaps(ref.times)).StepUS
	for k := range uint64(probeSeeds) {
		times := redraw(ref.times[:min(len(ref.times), maxProbe)], step, replayed, rng)
		m, t := probeOnce(make([]float64, len(times)), times, ref, c, k)
		means, tails = append(means, Ratio.of(of.means[k], m)), append(tails, Ratio.of(of.tails[k], t))
	}
	slices.Sort(means)
	slices.Sort(tails)
	at := int(math.Ceil(0.95*probeSeeds)) - 1
	return means[at], tails[at]
}

// replays says whether most minutes have as many arrivals as those of the
// reference.
func replays(ref, other []int64) bool {
	counts := map[int64]int{}
	for _, t := range ref {
		counts[t/noiseBlock]++
	}
	minutes := len(counts)
	for _, t := range other {
		counts[t/noiseBlock]--
	}
	off := 0
	for _, n := range counts {
		if n < -1 || n > 1 { // one may lie across the border of a minute
			off++
		}
	}
	return 10*off < minutes
}

// redraw lays for each second of a minute the arrivals of another second of that
// minute, of each once where they are only shuffled. On a clock coarser than a
// second its steps take the place of seconds: else a step full of arrivals could
// come twice, or not at all.
func redraw(times []int64, step int64, shuffle bool, rng *rand.Rand) []int64 {
	lead := int64(0) // stamps of a coarse clock are a little off its steps: cut between them
	if step >= 1_000_000 {
		lead = step / 2
	}
	step = max(step, 1_000_000)
	width := step * max(noiseBlock/step, 1)
	out := make([]int64, 0, len(times)+len(times)/8)
	for from := 0; from < len(times); {
		start := (times[from]+lead)/width*width - lead
		// The last minute may be cut short.
		parts := min(width, times[len(times)-1]-start+1+step-1) / step
		first := make([]int, parts+1) // by part: its first arrival
		to := from
		for s := range parts {
			first[s] = to
			for to < len(times) && times[to] < start+(s+1)*step {
				to++
			}
		}
		first[parts] = to
		order := rng.Perm(int(parts))
		for s := range parts {
			k := int64(order[s])
			if !shuffle {
				k = rng.Int64N(parts)
			}
			for _, t := range times[first[k]:first[k+1]] {
				out = append(out, t+(s-k)*step)
			}
		}
		from = to
	}
	if len(out) == 0 {
		return times
	}
	return out
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
func queueMetrics(ref *side, others []*side, base *side, o Options) []Metric {
	l := o.Limits
	c := servers(ref)
	if c == 0 {
		return nil
	}
	a, p := probe(ref.times, ref, c), probe(base.times, ref, c)
	noiseMean, noiseP99 := probeNoise(ref, c, a, replays(ref.times, others[0].times), o.Seed)
	means, tails := make([][]Metric, len(others)), make([][]Metric, len(others))
	for i, s := range others {
		if len(s.times) < 2 {
			return nil
		}
		b := probe(s.times, ref, c)
		means[i] = []Metric{queueMetric(l, ref, c, "mean wait", a.mean, max(2*a.meanSD, noiseMean*a.mean), b.mean, p.mean)}
		tails[i] = []Metric{queueMetric(l, ref, c, "p99 wait", a.p99, max(2*a.p99SD, noiseP99*a.p99), b.p99, p.p99)}
	}
	return append(mean(means), mean(tails)...)
}

// queueMetric passes within the limit or the noise of the reference in seconds:
// two standard deviations under its own service draws, or what its arrivals drawn
// anew are off.
func queueMetric(l Limits, ref *side, c int, name string, a, noise, b, base float64) Metric {
	m := Metric{Section: sectionQueue, Name: fmt.Sprintf("%s, %d servers", name, c), Unit: "s", How: Ratio, A: some(a), B: some(b)}
	if a == 0 {
		m.Why = "told only: the reference does not queue"
		return m
	}
	m.Off, m.Noise, m.Baseline = some(Ratio.of(a, b)), some(noise/a), some(Ratio.of(a, base))
	if v, ok := l.limit(&m, ref, ref); ok {
		m.Limit = some(v)
	}
	return m
}
