package replay

import (
	"math/rand/v2"
	"slices"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// Thinks draws think times, from the end of an answer to the next turn, from what
// a spec says of them: apart after tool calls and after answers where it tells
// them apart.
type Thinks struct {
	all, human, tool *dist.Table
	rng              *rand.Rand
}

// thinkStream sets the draws apart from others of the same seed.
const thinkStream = 0x7468696e6b // "think"

// NewThinks is of a spec's sessions; nil where they have no think times.
func NewThinks(s *spec.Sessions, seed uint64) *Thinks {
	if s == nil || s.Think == nil {
		return nil
	}
	return &Thinks{all: quantiles(s.Think), human: quantiles(s.ThinkHuman), tool: quantiles(s.ThinkTool), rng: rand.New(rand.NewPCG(seed, thinkStream))}
}

func quantiles(t *spec.Table) *dist.Table {
	if t == nil || len(t.P) == 0 {
		return nil
	}
	floats := func(in []spec.Num) []float64 {
		out := make([]float64, len(in))
		for i, v := range in {
			out[i] = float64(v)
		}
		return slices.Clip(out)
	}
	return &dist.Table{P: floats(t.P), X: floats(t.Values)}
}

// draw is the think time, ns, after the answer to a request.
func (t *Thinks) draw(before *trace.Request) int64 {
	from := t.all
	switch {
	case before.Finish == trace.FinishToolCalls && t.tool != nil:
		from = t.tool
	case (before.Finish == trace.FinishStop || before.Finish == trace.FinishLength) && t.human != nil:
		from = t.human
	}
	return int64(min(max(from.At(t.rng.Float64()), 0)*1e9, float64(maxInstant)))
}
