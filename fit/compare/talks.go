package compare

import (
	"math/rand/v2"

	"reprise/fit"
	"reprise/fit/dist"
	"reprise/trace"
)

// talks are the sessions of a trace as parts that can be drawn anew.
type talks struct {
	of    []talk
	step  int64 // µs, of the clock
	ks    bool  // there are enough gaps for a distance
	turns dist.Values
}

// talk is one session: its turns; by turn, how often it was at risk to end and
// went on; and its settled gaps.
type talk struct {
	turns      int64
	risk, next [maxTurn + 1]int32
	gaps       []int64
}

// newTalks takes sessions apart as fit.Turns counts them.
func newTalks(t *trace.Trace, l *fit.Links, c fit.Turns, step int64) *talks {
	out := &talks{of: make([]talk, l.Count), step: step}
	for s, n := range c.Counts {
		out.of[s].turns = n
	}
	for i := range t.Requests {
		s := l.Session[i]
		if s < 0 || c.Truncated[s] || c.Late[i] {
			continue
		}
		if k := int64(l.Turn[i]) + 1; k <= maxTurn {
			out.of[s].risk[k]++
			if k < c.Counts[s] {
				out.of[s].next[k]++
			}
		}
	}
	for i, g := range c.Settled {
		s := c.SettledOf[i]
		out.of[s].gaps = append(out.of[s].gaps, g)
	}
	return out
}

// noise is how far sessions drawn with replacement lie from those of the log, in
// the metrics that a value is told of.
func (x *talks) noise(values map[string]float64, rng *rand.Rand) map[string][]float64 {
	out := map[string][]float64{}
	add := func(name string, off float64) { out[name] = append(out[name], off) }
	for range noiseTimes {
		var total int64
		var risk, next [maxTurn + 1]int64
		var gaps []int64
		for range x.of {
			s := &x.of[rng.IntN(len(x.of))]
			total += s.turns
			for k := range s.risk {
				risk[k], next[k] = risk[k]+int64(s.risk[k]), next[k]+int64(s.next[k])
			}
			gaps = append(gaps, s.gaps...)
		}
		add(turnsMean, Ratio.of(values[turnsMean], float64(total)/float64(len(x.of))))
		for k := 1; k <= maxTurn; k++ {
			if v, ok := values[hazardName(k)]; ok && risk[k] > 0 {
				add(hazardName(k), Difference.of(v, float64(next[k])/float64(risk[k])))
			}
		}
		if x.ks && len(gaps) > 0 {
			add(turnsGaps, dist.KSTwo(x.turns, dist.FromInts(onClock(gaps, x.step), 1e6)))
		}
	}
	return out
}
