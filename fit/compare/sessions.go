package compare

import (
	"fmt"

	"reprise/fit"
	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// maxTurn is the last turn whose continuation is set side by side, and
// minAtRisk how many sessions must have reached it.
const (
	maxTurn   = 20
	minAtRisk = 200
)

const turnsMean = "turns a session, mean"

func hazardName(k int) string { return fmt.Sprintf("continues after turn %d", k) }

// sessions notes how conversations go on, and the times between the arrivals of
// their turns, where the log names them: those that prefixes tell are a guess,
// and what they share is judged as prefix sharing.
func (s *side) sessions(t *trace.Trace) {
	l := fit.Link(t)
	if l.Count == 0 || l.By == spec.ByPrefix {
		return
	}
	c := fit.TurnsOf(t, l)
	total := int64(0)
	for _, n := range c.Counts {
		total += n
	}
	s.values[turnsMean] = float64(total) / float64(l.Count)
	for _, h := range c.Hazards() {
		s.hazard(h.Turn, h.AndLater, h.AtRisk, h.Value())
	}
	step := fit.DetectResolution(fit.Gaps(s.times)).StepUS
	s.talk = newTalks(t, l, c, step)
	if len(c.Settled) >= minAtRisk {
		s.turns = dist.FromInts(onClock(c.Settled, step), 1e6)
		s.talk.ks, s.talk.turns = true, s.turns
	}
}

// onClock rounds gaps to the step of a clock of a second or coarser: its stamps
// are a little off their step, and a distance would count that.
func onClock(gaps []int64, step int64) []int64 {
	if step < 1_000_000 {
		return gaps
	}
	out := make([]int64, len(gaps))
	for i, g := range gaps {
		out[i] = (g + step/2) / step * step
	}
	return out
}

// hazard notes P(turns > k | turns >= k) where enough sessions say.
func (s *side) hazard(k int, later bool, atRisk int64, v float64) {
	if atRisk >= minAtRisk && !later {
		s.values[hazardName(k)] = v
	}
}

// specSessions takes the same from a spec.
func (s *side) specSessions(x *spec.Sessions) {
	if x == nil || x.Identity == spec.ByPrefix {
		return
	}
	s.values[turnsMean] = float64(x.MeanTurns.Value)
	for _, h := range x.Hazards {
		s.hazard(h.Turn, h.AndLater, h.N, float64(h.Value))
	}
	if b := x.Between; b != nil && b.N >= minAtRisk {
		gaps, table := make([]float64, midpoints), distTable(b.P, b.Values)
		for i := range gaps {
			gaps[i] = table.At((float64(i) + 0.5) / midpoints)
		}
		s.turns = dist.NewValues(gaps)
	}
}
