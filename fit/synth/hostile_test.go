package synth_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/fit"
	"reprise/fit/synth"
	"reprise/trace/spec"
)

// TestHostile draws specs that ask for the impossible: each is refused, or costs
// little.
func TestHostile(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*spec.Workload)
		long time.Duration
		want string // of the error; empty when it is drawn
	}{
		"huge counts":     {func(w *spec.Workload) { w.Arrivals.Rates.Counts[0] = 1e9 }, 0, "over 20 million"},
		"too huge counts": {func(w *spec.Workload) { w.Arrivals.Rates.Counts[0] = 1 << 60 }, 0, "rate_series.counts[0]"},
		"tiny bins": {func(w *spec.Workload) {
			w.Arrivals.Rates = &spec.RateSeries{WidthS: 1e-6, LastS: 1e-6, Counts: []int64{0}}
		}, time.Hour, "no request"},
		"tiny bins, over and over": {func(w *spec.Workload) {
			w.Arrivals.Rates = &spec.RateSeries{WidthS: 1e-6, LastS: 1e-6, Counts: append(make([]int64, 1000), 1)}
		}, time.Hour, "begin anew"},
		"no time":         {func(w *spec.Workload) { w.Arrivals.Rates.Counts, w.Arrivals.Rates.LastS = []int64{5}, 0 }, 0, "covers no time"},
		"endless bins":    {func(w *spec.Workload) { w.Arrivals.Rates.WidthS = 1e300 }, 0, "width_s"},
		"tiny children":   {func(w *spec.Workload) { w.Arrivals.Split.Steps = []spec.SplitStep{{ParentS: 60, ChildS: 1e-6}} }, 0, "equal children"},
		"no children":     {func(w *spec.Workload) { w.Arrivals.Split.Steps = []spec.SplitStep{{ParentS: 60, ChildS: 59.999}} }, 0, "equal children"},
		"dispersion":      {func(w *spec.Workload) { w.Arrivals.Split.Steps[0].Rho = 1e300 }, 0, ""},
		"no dispersion":   {func(w *spec.Workload) { w.Arrivals.Split.Steps[0].Rho = -1e300 }, 0, ""},
		"longest prompts": {func(w *spec.Workload) { constant(&w.Lengths.Input, 100e6) }, 0, "2^30 prefix blocks"},
		"long prompts":    {func(w *spec.Workload) { constant(&w.Lengths.Input, 101e6) }, 0, "more than 1e+08"},
		"deepest hits": {func(w *spec.Workload) {
			for i := range w.Prefix.Model.Strata {
				s := &w.Prefix.Model.Strata[i]
				fill(s.HitBlocks, 100e6)
				fill(s.Distance, 1e12)
			}
		}, 0, ""},
		"deep root":     {func(w *spec.Workload) { w.Prefix.Roots = []spec.Root{{Tokens: 1e300, Share: 1}} }, 0, ""},
		"huge blocks":   {func(w *spec.Workload) { w.Prefix.BlockTokens = 1 << 62 }, 0, ""},
		"no strata":     {func(w *spec.Workload) { w.Prefix.Model.Strata = nil }, 0, "no strata"},
		"odd share":     {func(w *spec.Workload) { w.Prefix.Model.Continued.Value = 2 }, 0, "want a share"},
		"strange mean":  {func(w *spec.Workload) { w.Lengths.Input.Mean.Value, w.Lengths.Output.Mean.Value = -1e300, 1e300 }, 0, ""},
		"no requests":   {func(w *spec.Workload) { fillCounts(w, 0) }, 0, "no request"},
		"fast Poisson":  {func(w *spec.Workload) { w.Arrivals.Process, w.Arrivals.Rate.Value = spec.ProcessPoisson, 1e300 }, 0, "over 20 million"},
		"slow Poisson":  {func(w *spec.Workload) { w.Arrivals.Process, w.Arrivals.Rate.Value = spec.ProcessPoisson, 1e-300 }, 0, "no request"},
		"unknown rate":  {func(w *spec.Workload) { w.Arrivals.Process = spec.ProcessUnknown }, 0, ""}, // the load of the question
		"longest trace": {func(*spec.Workload) {}, 1<<63 - 1, "over 20 million"},
		"no shares": {func(w *spec.Workload) {
			w.Features.Models = []spec.Share{{Alias: "a", Number: spec.Number{Value: 1e300}}}
		}, 0, ""},
		"counts of years": {func(w *spec.Workload) {
			fillCounts(w, 1)
			w.Arrivals.Rates.WidthS, w.Arrivals.Rates.LastS = 604800, 604800
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sp := rich(t)
			c.edit(&sp.Workload)
			x, err := synth.Trace(sp, synth.Options{For: c.long})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("want an error with %q, got %v", c.want, err)
			case err == nil:
				sound(t, x)
			}
		})
	}
}

func constant(l *spec.Length, v spec.Num) {
	l.Quantiles.P, l.Quantiles.Values, l.Mean.Value = spec.Nums([]float64{0, 1}), []spec.Num{v, v}, v
}

func fill(v []spec.Num, x spec.Num) {
	for i := range v {
		v[i] = x
	}
}

func fillCounts(w *spec.Workload, n int64) {
	for i := range w.Arrivals.Rates.Counts {
		w.Arrivals.Rates.Counts[i] = n
	}
}

// TestCutTables draws from tables as a leakage profile leaves them: their ends
// cut off, strata merged, distances gone.
func TestCutTables(t *testing.T) {
	sp := rich(t)
	w := &sp.Workload
	q := &w.Lengths.Input.Quantiles
	q.P, q.Values = q.P[5:len(q.P)-7], q.Values[5:len(q.Values)-7]
	m := w.Prefix.Model
	last := m.Strata[len(m.Strata)-1]
	last.Distance = nil
	last.HitBlocks = last.HitBlocks[1 : len(last.HitBlocks)-1]
	m.P, m.Strata, m.Continued = m.P[1:len(m.P)-1], []spec.ReuseStratum{last}, nil
	w.Lengths.Joint.Strata = w.Lengths.Joint.Strata[:1]
	x, err := synth.Trace(sp, synth.Options{})
	check(t, err)
	sound(t, x)
	in, _ := lengthsOf(x)
	if lo, hi := slices.Min(in), slices.Max(in); spec.Num(lo) < q.Values[0] || spec.Num(hi) > q.Values[len(q.Values)-1] {
		t.Errorf("inputs from %d to %d lie outside the table", lo, hi)
	}
}

func FuzzTrace(f *testing.F) {
	raw, err := spec.Encode(rich(f))
	check(f, err)
	f.Add(raw, uint64(1), uint16(5))
	stated, err := fit.Stated(fit.Statement{Input: 200, Output: 30, Rate: 8, SharedPrefix: 80, Sigma: 0.5})
	check(f, err)
	raw, err = spec.Encode(stated)
	check(f, err)
	f.Add(raw, uint64(2), uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, s uint16) {
		sp, err := spec.Decode(data)
		if err != nil || tooLarge(sp) {
			return
		}
		x, err := synth.Trace(sp, synth.Options{Seed: seed, For: time.Duration(s%60+1) * time.Second})
		if err == nil {
			sound(t, x)
		}
	})
}

// tooLarge tells specs that are drawn, but not in the time of one fuzz input.
func tooLarge(sp *spec.Spec) bool {
	w := &sp.Workload
	var n int64
	if s := w.Arrivals.Rates; s != nil {
		for _, c := range s.Counts {
			n += c
		}
	}
	q := w.Lengths.Input.Quantiles.Values
	return n > 2000 || w.Arrivals.Rate.Value > 50 || sp.Question.Load.Value > 50 || q[len(q)-1] > 1e5 || w.Prefix.BlockTokens < 4
}

func BenchmarkTrace(b *testing.B) {
	x := day(b, "mooncake-conv", 50_000)
	sp, err := fit.Fit(x, fit.Options{})
	check(b, err)
	const n = 1_000_000
	for i := range sp.Workload.Arrivals.Rates.Counts {
		sp.Workload.Arrivals.Rates.Counts[i] *= n / 50_000
	}
	for b.Loop() {
		if _, err := synth.Trace(sp, synth.Options{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n, "requests")
}

func BenchmarkFit(b *testing.B) {
	x := day(b, "mooncake-conv", 1_000_000)
	b.ResetTimer()
	for b.Loop() {
		if _, err := fit.Fit(x, fit.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
