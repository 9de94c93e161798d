package compare

import (
	"errors"

	"reprise/fit"
	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// side is what is compared of one workload: samples for distances, and named
// values.
type side struct {
	Side
	in, out dist.Values
	pairIn  []int32 // input and output of the same request
	pairOut []int32
	times   []int64 // µs, ascending; nil for a spec
	gaps    dist.Values
	turns   dist.Values // seconds between turns of a session
	values  map[string]float64
	fine    bool                    // the clock is fine enough for gaps to be compared
	bursty  bool                    // IDC at 1 s above 5
	blocks  int                     // tokens a block; hit rates of different sizes do not compare
	names   map[string][]spec.Share // by kind
	assumed map[string]bool         // input, output: a person stated the table, so its shape is a guess
	talk    *talks                  // the sessions of a trace; nil where nothing names them
	week    *weekly                 // nil where the calendar is not known
}

// fromTrace measures a trace.
func fromTrace(t *trace.Trace) (*side, error) { return measured(t, true) }

// measured leaves prefix sharing out where the reference does not tell it: there
// the blocks of a synthetic trace are all fresh, and of prompts of a million
// tokens hundreds of millions.
func measured(t *trace.Trace, shared bool) (*side, error) {
	if len(t.Requests) == 0 {
		return nil, errors.New("the trace has no requests")
	}
	s := &side{Side: Side{Kind: "trace", Requests: int64(len(t.Requests))}, values: map[string]float64{}}
	var in, out []int32
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Input.OK {
			in = append(in, r.Input.V)
		}
		if fit.Failed(r) || !r.Output.OK {
			continue
		}
		out = append(out, r.Output.V)
		if r.Input.OK {
			s.pairIn, s.pairOut = append(s.pairIn, r.Input.V), append(s.pairOut, r.Output.V)
		}
	}
	s.in, s.out = dist.FromInts(in, 1), dist.FromInts(out, 1)
	s.lengths()
	if t.Timed() {
		s.times = fit.Times(t)
		if err := s.arrivals(); err != nil {
			return nil, err
		}
	}
	if shared {
		if err := s.prefix(t); err != nil {
			return nil, err
		}
	}
	s.sessions(t)
	s.features(t)
	s.weekly(t)
	return s, nil
}

// midpoints is how many points of a spec's tables stand for its distributions.
const midpoints = 20_000

// fromSpec takes what a spec tells. Its tables are evaluated at evenly spread
// probabilities.
func fromSpec(sp *spec.Spec) (*side, error) {
	w := &sp.Workload
	if len(w.Lengths.Input.Quantiles.P) == 0 || len(w.Lengths.Output.Quantiles.P) == 0 {
		return nil, errors.New("the spec holds no length tables")
	}
	s := &side{Side: Side{Kind: "spec", Requests: w.Lengths.Input.Quantiles.N}, values: map[string]float64{}}
	s.in, s.out = ofTable(w.Lengths.Input.Quantiles), ofTable(w.Lengths.Output.Quantiles)
	s.pairs(w.Lengths)
	s.lengths()
	s.values["input mean"], s.values["output mean"] = float64(w.Lengths.Input.Mean.Value), float64(w.Lengths.Output.Mean.Value)
	s.assumed = map[string]bool{"input": w.Lengths.Input.Quantiles.From == spec.Assumed, "output": w.Lengths.Output.Quantiles.From == spec.Assumed}
	s.specArrivals(&w.Arrivals)
	s.specPrefix(&w.Prefix)
	s.specSessions(w.Sessions)
	s.specFeatures(&w.Features)
	return s, nil
}

func ofTable(t spec.Table) dist.Values {
	x := make([]int32, midpoints)
	table := distTable(t.P, t.Values)
	for i := range x {
		x[i] = round(table.At((float64(i) + 0.5) / midpoints))
	}
	return dist.FromInts(x, 1)
}

func distTable(p, v []spec.Num) dist.Table {
	t := dist.Table{P: make([]float64, len(p)), X: make([]float64, len(v))}
	for i := range p {
		t.P[i], t.X[i] = float64(p[i]), float64(v[i])
	}
	return t
}

func round(v float64) int32 { return int32(max(v+0.5, 0)) }
