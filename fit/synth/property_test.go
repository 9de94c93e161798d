package synth_test

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/fit"
	"reprise/fit/synth"
	"reprise/trace"
	"reprise/trace/spec"
)

// example is a random small trace: turns that continue each other, shared
// beginnings, and of everything sometimes none.
func example(seed uint64, n int) *trace.Trace {
	rng := rand.New(rand.NewPCG(seed, 42))
	t := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh,
		Time: trace.Time{Calendar: trace.CalendarNone}}}
	timed, blocked, spread := rng.IntN(5) > 0, rng.IntN(4) > 0, []int64{0, 1, 1000, 1e6, 3e6}[rng.IntN(5)]
	longest := []int32{1, 20, 2000, 3_000_000}[rng.IntN(4)]
	if blocked || n > 10 {
		longest = min(longest, 2000)
	}
	var at int64
	next := int32(0)
	for i := range n {
		in := rng.Int32N(longest + 1)
		r := trace.Request{ID: int64(i), Input: trace.Some(in), Output: trace.Some(rng.Int32N(300)), N: 1, API: trace.API(rng.IntN(5))}
		if timed {
			r.T = trace.Some(at)
			at += rng.Int64N(spread + 1)
		}
		if blocked {
			want := int(in+15) / 16
			if i > 0 && rng.IntN(3) > 0 {
				from := t.Requests[rng.IntN(i)].Blocks
				r.Blocks = slices.Clone(from[:min(rng.IntN(len(from)+1), want)])
			}
			for len(r.Blocks) < want {
				r.Blocks = append(r.Blocks, next)
				next++
			}
		}
		switch rng.IntN(8) {
		case 0:
			r.Status, r.Output = trace.Some[int16](500), trace.Opt[int32]{}
		case 1:
			r.Output = trace.Opt[int32]{}
		case 2:
			r.Input, r.Blocks = trace.Opt[int32]{}, nil
		case 3:
			r.Model, r.Stream = "model1", trace.Some(rng.IntN(2) == 0)
		}
		t.Requests = append(t.Requests, r)
	}
	t.Header.Counts = trace.Counts{Read: int64(n), Kept: int64(n)}
	return t
}

// TestChain takes random small traces through fit, the file, synth and the
// trace file: all of it works, or says in one line why not.
func TestChain(t *testing.T) {
	worked := 0
	const chains = 120
	for seed := range uint64(chains) {
		src := example(seed, []int{1, 2, 3, 10, 150, 400}[seed%6])
		sp, err := fit.Fit(src, fit.Options{})
		if err != nil {
			plain(t, seed, err)
			continue
		}
		raw, err := spec.Encode(sp)
		if err != nil {
			t.Fatalf("seed %d: Fit made a spec that is none: %v", seed, err)
		}
		sp, err = spec.Decode(raw)
		check(t, err)
		x, err := synth.Trace(sp, synth.Options{Seed: seed})
		if err != nil {
			plain(t, seed, err)
			if src.Timed() {
				t.Errorf("seed %d: a trace with times is not drawn: %v", seed, err)
			}
			continue
		}
		if len(x.Requests) != len(src.Requests) {
			t.Errorf("seed %d: %d requests drawn of %d", seed, len(x.Requests), len(src.Requests))
		}
		sound(t, x)
		worked++
	}
	if worked < chains/2 {
		t.Errorf("only %d of %d traces went through", worked, chains)
	}
}

func plain(t *testing.T, seed uint64, err error) {
	t.Helper()
	if m := err.Error(); strings.Contains(m, "\n") || strings.Contains(m, "NaN") {
		t.Errorf("seed %d: %v", seed, err)
	}
}

// sound checks the rules of every synthetic trace.
func sound(t testing.TB, x *trace.Trace) {
	t.Helper()
	check(t, trace.Write(io.Discard, x.Header, x.All()))
	size := int32(min(x.Header.BlockTokens, math.MaxInt32))
	var next int32
	for i := range x.Requests {
		r := &x.Requests[i]
		if want := (int64(r.Input.V) + int64(size) - 1) / int64(size); int64(len(r.Blocks)) != want {
			t.Fatalf("request %d of %d tokens has %d blocks", i, r.Input.V, len(r.Blocks))
		}
		if r.Input.V < 1 || r.Output.V < 0 {
			t.Fatalf("request %d has %d and %d tokens", i, r.Input.V, r.Output.V)
		}
		// Blocks by first appearance; chained, they ascend, so none repeats.
		for k, b := range r.Blocks {
			if b > next || k > 0 && b <= r.Blocks[k-1] {
				t.Fatalf("request %d: block %d is %d after %d, %d were given away", i, k, b, r.Blocks[max(k-1, 0)], next)
			}
			next = max(next, b+1)
		}
	}
	blocks := make([][]int32, len(x.Requests))
	in, _ := lengthsOf(x)
	for i := range blocks {
		blocks[i] = x.Requests[i].Blocks
	}
	p, err := fit.Prefix(blocks, in, x.Header.BlockTokens)
	check(t, err)
	for i, h := range p.Hits {
		if h > in[i]/size {
			t.Fatalf("request %d hits %d blocks with %d tokens: the partial last one is shared", i, h, in[i])
		}
	}
	if p.Inconsistent != 0 {
		t.Fatalf("%d blocks are not chained", p.Inconsistent)
	}
}

// rich is the spec of a random trace with times and blocks.
func rich(t testing.TB) *spec.Spec {
	for seed := uint64(0); ; seed++ {
		src := example(seed, 400)
		if src.Timed() && len(src.Requests[0].Blocks) > 1 && src.Requests[399].T.V > 60e6 {
			sp, err := fit.Fit(src, fit.Options{})
			check(t, err)
			return sp
		}
	}
}

func file(t testing.TB, x *trace.Trace) []byte {
	var b bytes.Buffer
	check(t, trace.Write(&b, x.Header, x.All()))
	return b.Bytes()
}

func TestSameSeedSameBytes(t *testing.T) {
	sp := rich(t)
	draw := func(seed uint64) *trace.Trace {
		x, err := synth.Trace(sp, synth.Options{Seed: seed})
		check(t, err)
		return x
	}
	a, b, other := draw(7), draw(7), draw(8)
	if !bytes.Equal(file(t, a), file(t, b)) {
		t.Error("one seed gives two traces")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if !bytes.Equal(file(t, a), file(t, draw(7))) {
		t.Error("one processor gives another trace")
	}
	if reflect.DeepEqual(fit.Times(a), fit.Times(other)) || reflect.DeepEqual(blocksOf(a), blocksOf(other)) {
		t.Error("two seeds give one trace")
	}
}

func blocksOf(x *trace.Trace) [][]int32 {
	out := make([][]int32, len(x.Requests))
	for i := range out {
		out[i] = x.Requests[i].Blocks
	}
	return out
}

// TestStreamsApart changes one table after the other: only what it describes,
// and what depends on it, is drawn otherwise.
func TestStreamsApart(t *testing.T) {
	fields := map[string]func(*trace.Trace) any{
		"times":    func(x *trace.Trace) any { return fit.Times(x) },
		"input":    func(x *trace.Trace) any { in, _ := lengthsOf(x); return in },
		"output":   func(x *trace.Trace) any { _, out := lengthsOf(x); return out },
		"blocks":   func(x *trace.Trace) any { return blocksOf(x) },
		"features": func(x *trace.Trace) any { return models(x) },
	}
	raw, err := spec.Encode(rich(t))
	check(t, err)
	same := func() *spec.Spec {
		sp, err := spec.Decode(raw)
		check(t, err)
		return sp
	}
	before, err := synth.Trace(same(), synth.Options{Seed: 3})
	check(t, err)
	for _, c := range []struct {
		name    string
		edit    func(*spec.Workload)
		changes []string
	}{
		{"output table", func(w *spec.Workload) { double(w.Lengths.Output.Quantiles.Values); w.Lengths.Output.Mean.Value *= 2 }, []string{"output"}},
		{"joint", func(w *spec.Workload) { w.Lengths.Joint = nil }, []string{"output"}},
		{"split", func(w *spec.Workload) { w.Arrivals.Split = nil }, []string{"times"}},
		{"reuse", func(w *spec.Workload) { w.Prefix.Model = nil }, []string{"blocks"}},
		{"models", func(w *spec.Workload) { w.Features.Models = nil }, []string{"features"}},
		{"input table", func(w *spec.Workload) { double(w.Lengths.Input.Quantiles.Values); w.Lengths.Input.Mean.Value *= 2 }, []string{"input", "output", "blocks"}},
	} {
		sp := same()
		c.edit(&sp.Workload)
		after, err := synth.Trace(sp, synth.Options{Seed: 3})
		check(t, err)
		for name, of := range fields {
			if changed := !reflect.DeepEqual(of(before), of(after)); changed != slices.Contains(c.changes, name) {
				t.Errorf("another %s: %s changed: %v", c.name, name, changed)
			}
		}
	}
}

func models(x *trace.Trace) []string {
	out := make([]string, len(x.Requests))
	for i := range out {
		out[i] = x.Requests[i].Model
	}
	return out
}

func double(v []spec.Num) {
	for i := range v {
		v[i] *= 2
	}
}

func TestLengthOfTrace(t *testing.T) {
	sp := rich(t)
	whole, err := synth.Trace(sp, synth.Options{Seed: 1})
	check(t, err)
	s := sp.Workload.Arrivals.Rates
	length := time.Duration((float64(len(s.Counts)-1)*float64(s.WidthS) + float64(s.LastS)) * 1e9)
	short, err := synth.Trace(sp, synth.Options{Seed: 1, For: length / 3})
	check(t, err)
	n := len(short.Requests)
	if n == 0 || n >= len(whole.Requests) || short.Requests[n-1].T.V >= (length/3).Microseconds() {
		t.Errorf("a third has %d of %d requests, the last at %d µs", n, len(whole.Requests), short.Requests[n-1].T.V)
	}
	sound(t, short)
	long, err := synth.Trace(sp, synth.Options{Seed: 1, For: 3 * length})
	check(t, err)
	if d := len(long.Requests) - 3*len(whole.Requests); d < -1 || d > 1 {
		t.Errorf("three times the length has %d requests, once has %d", len(long.Requests), len(whole.Requests))
	}
	sound(t, long)
	if _, err := synth.Trace(sp, synth.Options{For: -1}); err == nil {
		t.Error("a negative length is taken")
	}
}

func TestPoissonRate(t *testing.T) {
	sp, err := fit.Stated(fit.Statement{Input: 100, Output: 10, Rate: 20})
	check(t, err)
	x, err := synth.Trace(sp, synth.Options{Seed: 5, For: 1000 * time.Second})
	check(t, err)
	if n := float64(len(x.Requests)); math.Abs(n-20000) > 4*math.Sqrt(20000) {
		t.Errorf("%v requests in 1000 s at 20/s", n)
	}
	s, err := fit.Arrivals(fit.Times(x))
	check(t, err)
	if cv := s.Gaps.CV.Value; math.Abs(cv-1) > 0.03 {
		t.Errorf("gaps of a Poisson process have a CV of %.3f", cv)
	}
}

// TestDispersion draws one split dispersion and measures it again.
func TestDispersion(t *testing.T) {
	for _, rho := range []float64{-0.01, 0, 0.05, 0.5, 0.98, 1} {
		sp, err := fit.Stated(fit.Statement{Input: 100, Output: 10, Rate: 20})
		check(t, err)
		counts := make([]int64, 120)
		for i := range counts {
			counts[i] = 500
		}
		sp.Workload.Arrivals.Process = spec.ProcessCounts
		sp.Workload.Arrivals.Rates = &spec.RateSeries{Provenance: spec.Provenance{From: spec.Measured, N: 60000}, WidthS: 60, LastS: 60, Counts: counts}
		sp.Workload.Arrivals.Split = &spec.Split{Provenance: spec.Provenance{From: spec.Measured, N: 60000},
			Steps: []spec.SplitStep{{ParentS: 60, ChildS: 15, Rho: spec.Num(rho)}}}
		x, err := synth.Trace(sp, synth.Options{Seed: 9})
		check(t, err)
		times := fit.Times(x)
		got := fit.SplitRho(append([]int64{0}, times...), []int64{60e6, 15e6}, fit.Resolution{})[0].Rho.Value
		if want := min(max(rho, 0), 0.98); math.Abs(got-want) > 0.05*want+0.005 {
			t.Errorf("rho %v comes out as %.4f", rho, got)
		}
	}
}

func TestStated(t *testing.T) {
	sp, err := fit.Stated(fit.Statement{Input: 2000, Output: 300, Rate: 8, SharedPrefix: 800, Sigma: 0.5})
	check(t, err)
	raw, err := spec.Encode(sp)
	check(t, err)
	sp, err = spec.Decode(raw)
	check(t, err)
	x, err := synth.Trace(sp, synth.Options{Seed: 1, For: time.Hour})
	check(t, err)
	sound(t, x)
	var in, out float64
	for i := range x.Requests {
		r := &x.Requests[i]
		in, out = in+float64(r.Input.V), out+float64(r.Output.V)
		shared := 0
		if i > 0 {
			for shared < len(r.Blocks) && r.Blocks[shared] < 50 {
				shared++
			}
			if shared != 50 || len(r.Blocks) > 50 && r.Blocks[50] <= x.Requests[i-1].Blocks[49] {
				t.Fatalf("request %d shares %d blocks, want 50", i, shared)
			}
		}
	}
	n := float64(len(x.Requests))
	if in /= n; math.Abs(in-2000) > 40 {
		t.Errorf("the mean input is %.0f, stated 2000", in)
	}
	if out /= n; math.Abs(out-300) > 6 {
		t.Errorf("the mean output is %.1f, stated 300", out)
	}
	assumed(t, reflect.ValueOf(sp.Workload), "workload")
	if bytes.Contains(raw, []byte(`"measured"`)) || bytes.Contains(raw, []byte(`"estimated"`)) {
		t.Error("a number of a statement is called measured or estimated")
	}
	for _, bad := range []fit.Statement{{}, {Input: 10, Output: 1, Rate: 1, SharedPrefix: 10}, {Input: 10, Output: 1, Rate: math.NaN()},
		{Input: 10, Output: 1, Rate: 1, Sigma: 4}, {Input: math.Inf(1), Output: 1, Rate: 1}, {Input: 10, Output: 1, Rate: 1, SharedPrefix: -1}} {
		if _, err := fit.Stated(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// assumed checks that whatever says where it comes from says assumed, and what
// would replace it.
func assumed(t *testing.T, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			assumed(t, v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			assumed(t, v.Index(i), path)
		}
	case reflect.Struct:
		if from := v.FieldByName("From"); from.IsValid() && (from.String() != string(spec.Assumed) || v.FieldByName("Ask").String() == "") {
			t.Errorf("%s comes from %q and asks %q", path, from.String(), v.FieldByName("Ask").String())
		}
		for i := range v.NumField() {
			assumed(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	}
}
