package fitlaw

import (
	"fmt"
	"math"
	"slices"
	"time"

	"reprise/replay/mock/engine"
	"reprise/replay/mock/simulate"
)

// Options say what a client cannot see of an engine; zero leaves it to the
// fit.
type Options struct {
	Name       string // of the law
	Source     string // of the law: which run
	MaxSeqs    int    // places in the batch; 0: as the run shows, if it does
	MaxBatched int    // tokens in a step; 0 for 2048
	Seed       uint64 // of the simulations
	NoSearch   bool   // regression alone
}

// Report says how well a law tells the run that it was fitted to.
type Report struct {
	Requests int `json:"requests"` // used
	Left     int `json:"left_out"` // failed, or without times or counts
	Gaps     int `json:"gaps"`     // between tokens, of the regression

	R2          float64 `json:"r2"`                  // of gaps by the step law
	MedianGapUS float64 `json:"median_gap_us"`       // measured
	MedianErrUS float64 `json:"median_abs_error_us"` // of gaps by the step law

	Regression Check  `json:"regression"` // the law by regression of gaps alone
	Searched   Check  `json:"searched"`   // the law after the search by simulation
	Taken      string `json:"taken"`      // regression or searched

	PeakDecoding int      `json:"peak_decoding"` // most streams at once
	Warnings     []string `json:"warnings"`
}

// Check sets a law's simulation beside a measured run.
type Check struct {
	Measured  simulate.Forecast `json:"measured"`
	Predicted simulate.Forecast `json:"predicted"`
	// Relative errors of quantiles: predicted/measured − 1.
	TTFTP50 float64 `json:"ttft_p50_error"`
	TTFTP90 float64 `json:"ttft_p90_error"`
	TPOTP50 float64 `json:"tpot_p50_error"`
	TPOTP90 float64 `json:"tpot_p90_error"`
	// Median over requests of |log(predicted/measured)|.
	TTFTEach float64 `json:"ttft_median_log_error"`
	TPOTEach float64 `json:"tpot_median_log_error"`
	Loss     float64 `json:"loss"`
}

// fewest is the number of requests and of gaps under which nothing is fitted.
const fewest = 20

// Fit estimates the law of the engine that observations were made of: first
// a regression of the gaps between tokens on the batch as the client's times
// tell it, then a search over the law's figures by simulation of the whole run,
// kept when it tells the run better.
func Fit(obs []Observation, left int, o Options) (engine.Law, Report, error) {
	ms := moments(obs)
	r := Report{Requests: len(obs), Left: left, Gaps: len(ms), Warnings: []string{}}
	if len(obs) < fewest || len(ms) < fewest {
		return engine.Law{}, r, fmt.Errorf("%d answered requests with %d gaps between tokens are too few to fit a law, replay at least %d with answers of several tokens", len(obs), len(ms), fewest)
	}
	c := regress(ms)
	r.goodness(ms, &c)
	law := o.law(obs, &c)
	law.JitterSigma = spread(ms, &c)
	r.PeakDecoding = peak(obs)
	in := Replayed(obs)
	if o.MaxSeqs == 0 {
		law.MaxSeqs = places(law, in, obs, r.PeakDecoding, o.Seed)
	}
	law.IngressUS = ingress(law, in, obs, o.Seed)
	var err error
	if r.Regression, err = check(law, in, obs, o.Seed); err != nil {
		return engine.Law{}, r, err
	}
	r.Taken = "regression"
	if o.NoSearch {
		r.warn(law, obs, ms, o)
		return sixDigits(law), r, nil
	}
	better := search(law, in, obs, o.Seed)
	if r.Searched, err = check(better, in, obs, o.Seed); err != nil {
		return engine.Law{}, r, err
	}
	if r.Searched.Loss < r.Regression.Loss {
		law, r.Taken = better, "searched"
	}
	r.warn(law, obs, ms, o)
	return sixDigits(law), r, nil
}

// law is the law of coefficients, with what the run shows of its limits.
func (o *Options) law(obs []Observation, c *[terms]float64) engine.Law {
	l := engine.Law{Name: o.Name, Source: o.Source, BaseUS: max(c[0], 1), DecodeUS: c[1], KVTokenUS: c[2], PrefillUS: c[3],
		MaxSeqs: 256, MaxBatched: 2048, Watermark: 0.01, Output: engine.OutputLaw{Median: 1}}
	if l.Name == "" {
		l.Name = "fitted"
	}
	longest, out := int32(0), make([]float64, len(obs))
	unit := int32(0)
	for k := range obs {
		longest = max(longest, obs[k].Prompt+obs[k].Out)
		out[k] = float64(obs[k].Out)
		unit = gcd(unit, obs[k].Cached)
	}
	slices.Sort(out)
	l.Output.Median = simulate.Quantile(out, 0.5)
	l.MaxModelLen = max(4096, 2*int(longest))
	l.Blocks = 1 << 16
	l.PrefixCache = unit > 0
	if unit > engine.BlockTokens && unit%engine.BlockTokens == 0 && unit <= 1<<10 {
		l.CacheUnit = int(unit)
	}
	if o.MaxSeqs > 0 {
		l.MaxSeqs = o.MaxSeqs
	}
	if o.MaxBatched > 0 {
		l.MaxBatched = o.MaxBatched
	}
	l.MaxBatched = max(l.MaxBatched, l.MaxSeqs)
	l.Blocks = max(l.Blocks, (l.MaxModelLen+engine.BlockTokens-1)/engine.BlockTokens)
	return l
}

func gcd(a, b int32) int32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// goodness tells how much of the gaps the regression tells.
func (r *Report) goodness(ms []moment, c *[terms]float64) {
	mean := 0.0
	gaps, errs := make([]float64, len(ms)), make([]float64, len(ms))
	for i := range ms {
		mean += ms[i].gap / float64(len(ms))
		gaps[i], errs[i] = ms[i].gap, math.Abs(ms[i].gap-predicted(c, &ms[i]))
	}
	var rest, all float64
	for i := range ms {
		rest += errs[i] * errs[i]
		all += (gaps[i] - mean) * (gaps[i] - mean)
	}
	if all > 0 {
		r.R2 = 1 - rest/all
	}
	slices.Sort(gaps)
	slices.Sort(errs)
	r.MedianGapUS, r.MedianErrUS = simulate.Quantile(gaps, 0.5), simulate.Quantile(errs, 0.5)
}

// spread is the sigma of the step times about the law: of the middle half of
// the logs of their ratios, since the rest is the machine's.
func spread(ms []moment, c *[terms]float64) float64 {
	v := make([]float64, len(ms))
	for i := range ms {
		v[i] = math.Log(ms[i].gap / max(predicted(c, &ms[i]), 1))
	}
	slices.Sort(v)
	const quartiles = 1.349 // between the quartiles of a normal distribution of sigma 1
	return min((simulate.Quantile(v, 0.75)-simulate.Quantile(v, 0.25))/quartiles, 1.5)
}

// peak is the most streams between their first and last token at once.
func peak(obs []Observation) int {
	type edge struct {
		at time.Duration
		d  int
	}
	var edges []edge
	for k := range obs {
		edges = append(edges, edge{obs[k].Sent + obs[k].TTFT, 1}, edge{obs[k].Sent + obs[k].E2E, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(min(max(a.at-b.at, -1), 1))
		}
		return a.d - b.d
	})
	n, most := 0, 0
	for _, e := range edges {
		n += e.d
		most = max(most, n)
	}
	return most
}

// Predict simulates observations' load under a law and sets it beside them.
func Predict(law engine.Law, obs []Observation, seed uint64) (Check, error) {
	return check(law, Replayed(obs), obs, seed)
}
