package fitlaw

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"reprise/replay"
	"reprise/replay/mock/engine"
	"reprise/replay/mock/simulate"
)

// Observation is a request as a client measured it.
type Observation struct {
	Sent   time.Duration // when its bytes were handed to the kernel
	TTFT   time.Duration // from Sent to the first content
	E2E    time.Duration // from Sent to the last content
	Asked  int32         // prompt tokens of the trace
	Prompt int32         // prompt tokens by the server's usage, else as asked
	Cached int32         // of them from the prefix cache
	Out    int32         // output tokens by usage, else as asked
	Gaps   []time.Duration
}

// Observe takes from results what a law can be fitted to: the answered requests
// whose times and token counts are known, in order of sending. It returns also
// how many it left out.
func Observe(results iter.Seq2[replay.Result, error]) (obs []Observation, left int, err error) {
	for r, err := range results {
		if err != nil {
			return nil, 0, err
		}
		o, ok := observe(&r)
		if !ok {
			left++
			continue
		}
		obs = append(obs, o)
	}
	slices.SortStableFunc(obs, func(a, b Observation) int { return cmp.Compare(a.Sent, b.Sent) })
	return obs, left, nil
}

func observe(r *replay.Result) (Observation, bool) {
	in, out := r.InUsage, r.OutUsage
	if !in.OK {
		in = r.InAsked
	}
	if !out.OK {
		out = r.OutAsked
	}
	if r.Class != replay.OK || !r.WriteEnd.OK || !r.FirstContent.OK || !r.LastContent.OK || !in.OK || !out.OK || in.V < 1 || out.V < 1 {
		return Observation{}, false
	}
	o := Observation{
		Sent: time.Duration(r.WriteEnd.V), TTFT: time.Duration(r.FirstContent.V - r.WriteEnd.V),
		E2E: time.Duration(r.LastContent.V - r.WriteEnd.V), Asked: r.InAsked.Or(in.V),
		Prompt: in.V, Cached: min(max(r.Cached.Or(0), 0), in.V-1), Out: out.V,
	}
	if o.TTFT <= 0 || o.E2E < o.TTFT {
		return Observation{}, false
	}
	for _, g := range r.Gaps {
		o.Gaps = append(o.Gaps, time.Duration(max(g, 0))*time.Microsecond)
	}
	return o, true
}

// Replayed is the load that observations were made under, with the cache hits
// that they had.
func Replayed(obs []Observation) []simulate.Timed {
	in := make([]simulate.Timed, len(obs))
	for k := range obs {
		o := &obs[k]
		in[k] = simulate.Timed{At: o.Sent, Request: engine.Request{Prompt: o.Prompt, Hit: o.Cached, MaxTokens: o.Out, IgnoreEOS: true, Draw: uint64(k)}}
	}
	return in
}

// whole tells an answer that came in one piece: it says nothing of the time
// between tokens.
func (o *Observation) whole() bool { return len(o.Gaps) == 0 }

// Measured sums observations up as a forecast does outcomes; answers that came
// in one piece have no TPOT.
func Measured(obs []Observation) simulate.Forecast {
	out := make([]simulate.Outcome, len(obs))
	for k := range obs {
		o := &obs[k]
		out[k] = simulate.Outcome{TTFT: o.TTFT, E2E: o.E2E, Tokens: o.Out, Cached: o.Cached, Finish: engine.Length}
		if o.whole() {
			out[k].Tokens = 1
		}
	}
	f := simulate.Sum(Replayed(obs), out)
	tokens := 0.0
	for k := range obs {
		tokens += float64(obs[k].Out)
	}
	if f.SpanS > 0 {
		f.OutputPerS = tokens / f.SpanS
	}
	return f
}
