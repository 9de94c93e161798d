package synth

import (
	"math/rand/v2"
	"sort"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// lengths draws input and output tokens; the two streams are apart, so that
// one uniform never serves two fields.
type lengths struct {
	in, out       *rand.Rand
	input, output dist.Table
	upto          []float64 // strata of inputs, ascending
	given         []dist.Table
}

func newLengths(l *spec.Lengths, seed uint64) *lengths {
	g := &lengths{in: stream(seed, streamInput), out: stream(seed, streamOutput),
		input: table(l.Input.Quantiles.P, l.Input.Quantiles.Values), output: table(l.Output.Quantiles.P, l.Output.Quantiles.Values)}
	if l.Joint != nil {
		for _, s := range l.Joint.Strata {
			g.upto = append(g.upto, float64(s.Upto))
			g.given = append(g.given, table(s.P, s.Output))
		}
	}
	return g
}

func (g *lengths) draw() (in, out int32) {
	in = g.input.Rand(g.in)
	t := g.output
	if i := sort.SearchFloat64s(g.upto, float64(in)); len(g.given) > 0 {
		t = g.given[min(i, len(g.given)-1)]
	}
	return in, t.Rand(g.out)
}

// table is a quantile table that covers [0,1]: a profile may have cut its ends
// off, and what is left then stands for them.
func table(p, v []spec.Num) dist.Table {
	var t dist.Table
	if p[0] > 0 {
		t.P, t.X = append(t.P, 0), append(t.X, float64(v[0]))
	}
	for i := range p {
		t.P, t.X = append(t.P, float64(p[i])), append(t.X, float64(v[i]))
	}
	if last := len(p) - 1; p[last] < 1 {
		t.P, t.X = append(t.P, 1), append(t.X, float64(v[last]))
	}
	return t
}

// features draws what a request uses by the shares of the spec.
type features struct {
	rng *rand.Rand
	f   *spec.Features
}

func newFeatures(f *spec.Features, seed uint64) *features {
	return &features{stream(seed, streamFeatures), f}
}

func (g *features) draw(r *trace.Request) {
	flag := func(share *spec.Number) trace.Opt[bool] {
		u := g.rng.Float64() // drawn whether or not it is needed, to keep the stream in step
		if share == nil {
			return trace.Opt[bool]{}
		}
		return trace.Some(u < float64(share.Value))
	}
	r.Stream = flag(g.f.Stream)
	r.Tools = flag(g.f.Tools)
	r.Schema = flag(g.f.Schema)
	if chat := flag(g.f.Chat); chat.OK {
		r.API = trace.Completions
		if chat.V {
			r.API = trace.Chat
		}
	}
	r.Model = pick(g.f.Models, g.rng.Float64())
	r.Adapter = pick(g.f.Adapters, g.rng.Float64())
}

// pick returns the alias at u; what the shares leave over has none.
func pick(shares []spec.Share, u float64) string {
	for _, s := range shares {
		if u < float64(s.Value) {
			return s.Alias
		}
		u -= float64(s.Value)
	}
	return ""
}
