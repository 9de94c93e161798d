package bundle

import (
	"fmt"
	"math"

	"reprise/trace"
	"reprise/trace/spec"
)

// fittedFrom refuses a trace that is not the one that the spec was fitted from:
// k and u are checked on its requests and clients, and with the profile exact it
// leaves as what the spec describes. The spec holds no digest of its trace, so
// the figures that both have must agree: how many requests there are, how many
// have lengths, what these sum to, the time they span and the requests of each
// model. What the spec does not count (a brief, or held back) is not held against
// the trace. A cut of the trace has no more of anything.
func fittedFrom(s *spec.Spec, t *trace.Trace) error {
	if t == nil {
		return nil
	}
	w := &s.Workload
	figures := []inBoth{
		{"requests", float64(len(t.Requests)), float64(w.Arrivals.Rate.N), w.Arrivals.Rate.N},
		prompts(t).figure("requests with prompt tokens", w.Lengths.Input.Mean.N),
		answers(t).figure("requests with output tokens", w.Lengths.Output.Mean.N),
		spanned(t, w.Arrivals.Span),
	}
	models := map[string]int64{}
	for i := range t.Requests {
		models[t.Requests[i].Model]++
	}
	for _, m := range w.Features.Models {
		figures = append(figures, inBoth{"requests of a model that the spec names", float64(models[m.Alias]), float64(m.N), m.N})
	}
	differ := inBoth.differ
	if d := t.Header.DerivedFrom; d != nil && d.Verb == "cut" {
		differ = inBoth.exceed
	} else {
		figures = append(figures, prompts(t).mean("mean prompt tokens", w.Lengths.Input.Mean), answers(t).mean("mean output tokens", w.Lengths.Output.Mean))
	}
	for _, f := range figures {
		if err := differ(f); err != nil {
			return err
		}
	}
	return nil
}

// inBoth is a figure of the trace beside the spec's; n are the requests behind
// the spec's, 0 when it has none.
type inBoth struct {
	what       string
	have, want float64
	n          int64
}

// rounding is what six significant digits may be off by, and a little for the
// order of sums.
const rounding = 2e-5

func (f inBoth) differ() error {
	if f.n == 0 || math.Abs(f.have-f.want) <= rounding*math.Abs(f.want) {
		return nil
	}
	return f.refuse()
}

// exceed is differ for a cut.
func (f inBoth) exceed() error {
	if f.n == 0 || f.have <= f.want*(1+rounding) {
		return nil
	}
	return f.refuse()
}

func (f inBoth) refuse() error {
	return fmt.Errorf("the trace is not the one that the spec was fitted from: %s are %.6g in the trace and %.6g in the spec; "+
		"name that trace or a cut of it, or leave the trace out (profile aggregate); for a spec of several traces, ingest their logs at once and fit that trace", f.what, f.have, f.want)
}

// lengthSum counts and adds up lengths.
type lengthSum struct{ n, sum int64 }

func (s lengthSum) figure(what string, n int64) inBoth {
	return inBoth{what, float64(s.n), float64(n), n}
}

func (s lengthSum) mean(what string, m spec.Number) inBoth {
	return inBoth{what, float64(s.sum) / float64(max(s.n, 1)), float64(m.Value), m.N}
}

func prompts(t *trace.Trace) (s lengthSum) {
	for i := range t.Requests {
		if v := t.Requests[i].Input; v.OK {
			s.n, s.sum = s.n+1, s.sum+int64(v.V)
		}
	}
	return s
}

// answers leaves out those of requests that failed, which are no lengths of the
// workload.
func answers(t *trace.Trace) (s lengthSum) {
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Output.OK && r.Finish != trace.FinishError && !(r.Status.OK && r.Status.V >= 400) {
			s.n, s.sum = s.n+1, s.sum+int64(r.Output.V)
		}
	}
	return s
}

// spanned is the time from the first arrival to the last, in s.
func spanned(t *trace.Trace, want *spec.Number) inBoth {
	f := inBoth{what: "seconds from the first request to the last"}
	if n := len(t.Requests); want != nil && n > 0 {
		f.have, f.want, f.n = float64(t.Requests[n-1].T.V-t.Requests[0].T.V)/1e6, float64(want.Value), want.N
	}
	return f
}
