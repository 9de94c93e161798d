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
	mix           mixture
}

func newLengths(l *spec.Lengths, seed uint64) *lengths {
	g := &lengths{in: stream(seed, streamInput), out: stream(seed, streamOutput), input: marginal(&l.Input), output: marginal(&l.Output)}
	if l.Joint == nil {
		return g
	}
	n := make([]float64, len(l.Joint.Strata))
	for i, s := range l.Joint.Strata {
		g.upto = append(g.upto, float64(s.Upto))
		g.given = append(g.given, table(s.P, s.Output))
		n[i] = float64(max(s.N, 1))
	}
	g.mix = mixed(g.given, n)
	return g
}

// draw gives one pair. The coarse table of the input's stratum says where among
// all outputs this one stands; the fine table of all outputs says what is there.
func (g *lengths) draw() (in, out int32) {
	in = g.input.Rand(g.in)
	u, tie := g.out.Float64(), g.out.Float64()
	if len(g.given) > 0 {
		i := sort.SearchFloat64s(g.upto, float64(in))
		u = g.mix.rank(g.given[min(i, len(g.given)-1)].At(u), tie)
	}
	if g.output.At(u) == 0 {
		return in, 0 // an atom: answers without a token
	}
	return in, g.output.Length(u)
}

// marginal is the table of a length, bent to its mean.
func marginal(l *spec.Length) dist.Table {
	return bend(table(l.Quantiles.P, l.Quantiles.Values), float64(l.Mean.Value))
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
	rng          *rand.Rand
	f            *spec.Features
	extra        *rand.Rand // a stream of its own: what it draws was added later
	tool, schema *hand      // tokens that they add to the prompt; nil where not known
}

func newFeatures(f *spec.Features, seed uint64) *features {
	g := &features{rng: stream(seed, streamFeatures), f: f, extra: stream(seed, streamExtras)}
	if f.ToolTokens != nil {
		g.tool = newHand(f.ToolTokens, g.extra)
	}
	if f.SchemaTokens != nil {
		g.schema = newHand(f.SchemaTokens, g.extra)
	}
	return g
}

// extras draws what tools and a schema take of the prompt, and whether several
// completions are asked for: two, since the spec has no table of how many.
func (g *features) extras(r *trace.Request) {
	part := func(on trace.Opt[bool], h *hand) trace.Opt[int32] {
		if h == nil || !on.OK {
			return trace.Opt[int32]{}
		}
		if !on.V {
			return trace.Some[int32](0)
		}
		return trace.Some(min(int32(h.draw()+0.5), r.Input.V))
	}
	r.ToolTok = part(r.Tools, g.tool)
	r.SchemaT = part(r.Schema, g.schema)
	if r.ToolTok.V+r.SchemaT.V > r.Input.V {
		r.SchemaT = trace.Some(r.Input.V - r.ToolTok.V)
	}
	if s := g.f.Several; s != nil && s.Value > 0 && g.extra.Float64() < float64(s.Value) {
		r.N = 2
	}
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
	g.extras(r)
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

// Pairs draws n input and output lengths of a spec, without the rest of a trace.
func Pairs(l *spec.Lengths, n int, seed uint64) (input, output []int32) {
	g := newLengths(l, seed)
	input, output = make([]int32, n), make([]int32, n)
	for i := range n {
		input[i], output[i] = g.draw()
	}
	return input, output
}
