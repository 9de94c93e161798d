package compare

import (
	"fmt"
	"slices"

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

// sessions notes how conversations go on: h_k = P(turns > k | turns >= k), and
// the times between the arrivals of their turns.
func (s *side) sessions(t *trace.Trace) {
	turns := map[int32]int{}
	last := map[int32]int64{}
	var between []int64
	for i := range t.Requests {
		r := &t.Requests[i]
		if !r.Session.OK {
			continue
		}
		if at, ok := last[r.Session.V]; ok && r.T.OK {
			between = append(between, r.T.V-at)
		}
		last[r.Session.V] = r.T.V
		turns[r.Session.V]++
	}
	if len(turns) == 0 {
		return
	}
	var counts []int
	total := 0
	for _, n := range turns {
		counts = append(counts, n)
		total += n
	}
	s.values[turnsMean] = float64(total) / float64(len(turns))
	s.hazards(counts)
	if len(between) >= minAtRisk {
		s.turns = dist.FromInts(between, 1e6)
	}
}

func (s *side) hazards(counts []int) {
	slices.Sort(counts)
	for k := 1; k <= maxTurn; k++ {
		reached := len(counts) - lower(counts, k)
		if reached < minAtRisk {
			return
		}
		s.values[hazardName(k)] = float64(len(counts)-lower(counts, k+1)) / float64(reached)
	}
}

// lower is the number of counts below k.
func lower(counts []int, k int) int {
	i, _ := slices.BinarySearch(counts, k)
	return i
}

func (s *side) specSessions(x *spec.Sessions) {
	if x != nil {
		s.values[turnsMean] = float64(x.MeanTurns.Value)
	}
}
