package synth_test

import (
	"math/rand/v2"
	"reflect"
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
	raw, err := spec.Encode(rich(t))
	check(t, err)
	for name, c := range map[string]struct {
		edit func(*spec.Workload)
		long time.Duration
		want string // of the error; empty when it is drawn
	}{
		"huge counts":     {func(w *spec.Workload) { w.Arrivals.Rates.Counts[0] = 1e9 }, 0, "over 20 million"},
		"too huge counts": {func(w *spec.Workload) { w.Arrivals.Rates.Counts[0] = 1 << 60 }, 0, "rate_series.counts[0]"},
		"tiny bins": {func(w *spec.Workload) {
			w.Arrivals.Rates = &spec.RateSeries{Provenance: spec.Provenance{From: spec.Measured, N: 1}, WidthS: 1e-6, LastS: 1e-6, Counts: []int64{0}}
		}, time.Hour, "no request"},
		"tiny bins, over and over": {func(w *spec.Workload) {
			w.Arrivals.Rates = &spec.RateSeries{Provenance: spec.Provenance{From: spec.Measured, N: 1}, WidthS: 1e-6, LastS: 1e-6, Counts: append(make([]int64, 1000), 1)}
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
		"deep root": {func(w *spec.Workload) {
			w.Prefix.Roots = []spec.Root{{Provenance: spec.Provenance{From: spec.Measured, N: 1}, Tokens: 1e300, Share: 1}}
		}, 0, ""},
		"huge blocks":   {func(w *spec.Workload) { w.Prefix.BlockTokens = 1 << 62 }, 0, ""},
		"no strata":     {func(w *spec.Workload) { w.Prefix.Model.Strata = nil }, 0, "no strata"},
		"odd share":     {func(w *spec.Workload) { w.Prefix.Model.Continued.Value = 2 }, 0, "want a share"},
		"strange mean":  {func(w *spec.Workload) { w.Lengths.Input.Mean.Value, w.Lengths.Output.Mean.Value = -1e300, 1e300 }, 0, "want 0 or more"},
		"no requests":   {func(w *spec.Workload) { fillCounts(w, 0) }, 0, "no request"},
		"fast Poisson":  {func(w *spec.Workload) { w.Arrivals.Process, w.Arrivals.Rate.Value = spec.ProcessPoisson, 1e300 }, 0, "over 20 million"},
		"slow Poisson":  {func(w *spec.Workload) { w.Arrivals.Process, w.Arrivals.Rate.Value = spec.ProcessPoisson, 1e-300 }, 0, "no request"},
		"unknown rate":  {func(w *spec.Workload) { w.Arrivals.Process = spec.ProcessUnknown }, 0, ""}, // the load of the question
		"longest trace": {func(*spec.Workload) {}, 1<<63 - 1, "over 20 million"},
		"no shares": {func(w *spec.Workload) {
			w.Features.Models = []spec.Share{{Alias: "a", Number: spec.Number{Value: 1e300, Unit: "1", From: spec.Measured}}}
		}, 0, "want a share"},
		"counts of years": {func(w *spec.Workload) {
			fillCounts(w, 1)
			w.Arrivals.Rates.WidthS, w.Arrivals.Rates.LastS = 604800, 604800
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sp, err := spec.Decode(raw)
			check(t, err)
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

// tiny is a spec with every table that synth reads, each of a few points.
func tiny(t testing.TB) *spec.Spec {
	sp, err := fit.Stated(fit.Statement{Input: 200, Output: 30, Rate: 8, SharedPrefix: 80})
	check(t, err)
	from := spec.Provenance{From: spec.Measured, N: 60}
	w := &sp.Workload
	w.Lengths.Input.Quantiles.Values = spec.Nums([]float64{100, 300})
	w.Lengths.Joint = &spec.Joint{Provenance: from, Strata: []spec.Stratum{
		{Upto: 200, N: 30, P: spec.Nums([]float64{0, 1}), Output: spec.Nums([]float64{1, 20})},
		{Upto: 300, N: 30, P: spec.Nums([]float64{0, 0.5, 1}), Output: spec.Nums([]float64{5, 20, 99})}}}
	w.Arrivals.Process = spec.ProcessCounts
	w.Arrivals.Rates = &spec.RateSeries{Provenance: from, WidthS: 5, LastS: 3, Counts: []int64{30, 0, 30}}
	w.Arrivals.Split = &spec.Split{Provenance: from, Steps: []spec.SplitStep{{ParentS: 5, ChildS: 1, Rho: 0.2}, {ParentS: 1, ChildS: 0.5, Rho: 0.1}}}
	share := spec.MeasuredNumber(0.5, "1", 60)
	w.Prefix.Model = &spec.Reuse{Provenance: from, Continued: &share, P: spec.Nums([]float64{0, 0.5, 1}), Strata: []spec.ReuseStratum{
		{Upto: 200, N: 30, HitBlocks: spec.Nums([]float64{0, 5, 9}), Distance: spec.Nums([]float64{1, 40, 300})},
		{Upto: 300, N: 30, HitBlocks: spec.Nums([]float64{5, 9, 18}), Distance: spec.Nums([]float64{})}}}
	w.Features.Models = []spec.Share{{Alias: "model1", Number: share}}
	return sp
}

// TestTwistedNumbers sets numbers of a spec to odd ones, one to three at a time:
// what Validate lets through is drawn soundly or refused.
func TestTwistedNumbers(t *testing.T) {
	odd := []float64{0, 1, -1, 2, 0.5, 1e-6, 7, 63, 1000, 1e9, 1e12, 1e18, -1e18, 1e300, -1e300, 1e-300}
	drawn, refused := 0, 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		sp := tiny(t)
		fields := numbers(reflect.ValueOf(&sp.Workload), nil)
		for range 1 + rng.IntN(3) {
			f, x := fields[rng.IntN(len(fields))], odd[rng.IntN(len(odd))]
			if f.Kind() == reflect.Float64 {
				f.SetFloat(x)
			} else {
				f.SetInt(int64(max(min(x, 1<<62), -1<<62)))
			}
		}
		if tooLarge(sp) {
			continue
		}
		x, err := synth.Trace(sp, synth.Options{Seed: seed, For: time.Duration(rng.IntN(40)) * time.Second})
		if err != nil {
			plain(t, seed, err)
			refused++
			continue
		}
		sound(t, x)
		drawn++
	}
	if drawn < 500 || refused < 300 {
		t.Errorf("%d drawn, %d refused: not much of a test", drawn, refused)
	}
}

// numbers lists the numbers below a value.
func numbers(v reflect.Value, out []reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return numbers(v.Elem(), out)
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = numbers(v.Index(i), out)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out = numbers(v.Field(i), out)
		}
	case reflect.Float64, reflect.Int64, reflect.Int:
		return append(out, v)
	}
	return out
}

// FuzzTrace draws a few seconds of any spec that decodes. Run it with
// -fuzzminimizetime=1x, since minimising a spec takes longer than it is worth.
func FuzzTrace(f *testing.F) {
	for _, sp := range []*spec.Spec{tiny(f), rich(f)} {
		raw, err := spec.Encode(sp)
		check(f, err)
		f.Add(raw, uint64(1), uint16(5))
	}
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
