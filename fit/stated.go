package fit

import (
	"fmt"
	"math"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// Statement is a workload as somebody states it, with no log behind it.
type Statement struct {
	Input        float64 // mean tokens of a prompt, shared prefix included
	Output       float64 // mean tokens of an answer
	Rate         float64 // requests per second
	SharedPrefix int     // tokens with which every prompt begins
	Compared     bool    // the shared prefix is that of a system prompt and one request that were compared
	Sigma        float64 // sigma of the lognormal spread around the means; 0 for constant lengths
	Tokenizer    trace.Named
	WordList     string // SHA-256
	Tool         trace.Tool
}

// statedBlock is the block size of stated workloads, vLLM's default.
const statedBlock = 16

// What would replace the numbers of a statement.
const (
	askInput  = "the prompt tokens of at least 200 requests"
	askOutput = "the output tokens of at least 200 requests"
	askRate   = "the arrival times of a whole day"
	askPrefix = "the system prompt, and one complete request"
	askShared = "the prompts of at least 200 requests, or their block digests; both are read on your machine"
)

// Stated turns a statement into a spec in which every number is labelled
// assumed and carries the data request that would replace it. Lengths are
// lognormal around the stated means; of prompts only what follows the shared
// prefix varies. Arrivals are Poisson at the stated rate.
func Stated(s Statement) (*spec.Spec, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	sp := &spec.Spec{
		Kind: spec.Kind, Version: spec.Version, Revision: 1, Status: spec.Draft, Tool: s.Tool,
		Privacy: spec.Privacy{Profile: "none", Calendar: trace.CalendarNone},
		Synth:   spec.Synth{Tokenizer: s.Tokenizer, WordListSHA256: s.WordList},
		DataRequests: []spec.DataRequest{
			{Ask: askInput, Replaces: []string{"workload.lengths.input"}},
			{Ask: askOutput, Replaces: []string{"workload.lengths.output"}},
			{Ask: askRate, Replaces: []string{"workload.arrivals"}},
			{Ask: s.askPrefix(), Replaces: []string{"workload.prefix"}},
		},
	}
	sp.Workload.Lengths.Input = statedLength(float64(s.SharedPrefix), s.Input, s.Sigma, askInput)
	sp.Workload.Lengths.Output = statedLength(0, s.Output, s.Sigma, askOutput)
	sp.Workload.Arrivals = spec.Arrivals{Process: spec.ProcessPoisson, Rate: spec.AssumedNumber(s.Rate, "1/s", askRate)}
	sp.Workload.Prefix = s.prefix()
	sp.Question.Load = spec.Load{Value: spec.Round(s.Rate), Unit: "1/s"}
	return sp, nil
}

// RangeError is a stated number that no workload has: Name is input, output,
// rate, shared prefix or sigma.
type RangeError struct{ Name, Want string }

func (e *RangeError) Error() string { return e.Name + " " + e.Want }

func (s Statement) check() error {
	for _, v := range []struct {
		name string
		v    float64
		max  float64
	}{{"input", s.Input, 1e7}, {"output", s.Output, 1e7}, {"rate", s.Rate, 1e6}} {
		if !(v.v > 0) || v.v > v.max {
			return &RangeError{v.name, fmt.Sprintf("must be above 0 and at most %g", v.max)}
		}
	}
	switch {
	case s.SharedPrefix < 0 || float64(s.SharedPrefix) >= s.Input:
		return &RangeError{"shared prefix", "must be 0 or more tokens, and fewer than the mean input"}
	case !(s.Sigma >= 0) || s.Sigma > 3:
		return &RangeError{"sigma", "must be between 0 and 3"}
	}
	return nil
}

// statedLength describes fixed + lognormal with the given mean in all.
func statedLength(fixed, mean, sigma float64, ask string) spec.Length {
	l := spec.Length{
		Mean:      spec.AssumedNumber(mean, "tokens", ask),
		Quantiles: spec.Table{Provenance: spec.Provenance{From: spec.Assumed, Ask: ask}},
	}
	rest := mean - fixed
	if sigma == 0 {
		l.Quantiles.P, l.Quantiles.Values = spec.Nums([]float64{0, 1}), spec.Nums([]float64{mean, mean})
		return l
	}
	f := dist.Lognormal{Mu: math.Log(rest) - float64(sigma*sigma)/2, Sigma: sigma}
	l.Families = []spec.Family{{Provenance: l.Quantiles.Provenance, Name: f.Name(), Label: "assumed", Params: []spec.Param{
		{Name: "mu", Value: spec.Round(f.Mu)}, {Name: "sigma", Value: spec.Round(f.Sigma)}}}}
	for _, p := range dist.Grid(100) {
		// The ends of a lognormal are 0 and infinity; a table stops short of both.
		q := min(max(p, 1e-4), 1-1e-4)
		l.Quantiles.P = append(l.Quantiles.P, spec.Round(p))
		l.Quantiles.Values = append(l.Quantiles.Values, spec.Round(max(1, math.Round(fixed+f.Quantile(q)))))
	}
	return l
}

// askPrefix is what would tell more of the shared prefix than is known.
func (s Statement) askPrefix() string {
	if s.Compared {
		return askShared
	}
	return askPrefix
}

// prefix says that every prompt begins with the same blocks.
func (s Statement) prefix() spec.Prefix {
	p := spec.Prefix{BlockTokens: statedBlock}
	share := 0.0
	if s.SharedPrefix >= statedBlock {
		share = 1
	}
	n := spec.AssumedNumber(share, "1", s.askPrefix())
	p.ShareRequests = &n
	if share == 0 {
		return p
	}
	from := spec.Provenance{From: spec.Assumed, Ask: s.askPrefix()}
	depth := spec.Round(float64(s.SharedPrefix / statedBlock))
	p.Roots = []spec.Root{{Provenance: from, Tokens: spec.Round(float64(s.SharedPrefix)), Share: 1}}
	p.Model = &spec.Reuse{Provenance: from, P: spec.Nums([]float64{0, 1}), Strata: []spec.ReuseStratum{
		{Upto: 1e7, HitBlocks: []spec.Num{depth, depth}}}}
	return p
}
