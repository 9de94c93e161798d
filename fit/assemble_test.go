package fit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// asTrace is a public trace in the form that Fit takes.
func (s sample) asTrace(block int) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: block, Tail: trace.TailAsGiven,
		Time: trace.Time{Calendar: trace.CalendarNone}}}
	for i := range s.times {
		r := trace.Request{ID: int64(i), T: trace.Some(s.times[i]), Input: trace.Some(s.input[i]), Output: trace.Some(s.output[i]), N: 1}
		if s.blocks != nil {
			r.Blocks = s.blocks[i]
		}
		t.Requests = append(t.Requests, r)
	}
	n := int64(len(t.Requests))
	t.Header.Counts = trace.Counts{Read: n, Kept: n}
	return t
}

// fitted returns the spec as its file holds it.
func fitted(t testing.TB, tr *trace.Trace) *spec.Spec {
	t.Helper()
	sp, err := Fit(tr, Options{})
	check(t, err)
	raw, err := spec.Encode(sp)
	check(t, err)
	again, err := spec.Decode(raw)
	check(t, err)
	return again
}

// reference looks values of one dataset up by path and compares what the spec
// has with their six digits.
type reference struct {
	t       *testing.T
	name    string
	data    any
	checked int
}

func (r *reference) at(path string) (float64, bool) {
	v := r.data
	for key := range strings.SplitSeq(path, "/") {
		m, ok := v.(map[string]any)
		if !ok {
			r.t.Fatalf("%s: the reference has no %s", r.name, path)
		}
		v = m[key]
	}
	f, ok := v.(float64)
	return f, ok
}

func (r *reference) is(path string, got spec.Num) {
	r.t.Helper()
	want, ok := r.at(path)
	if !ok {
		r.t.Errorf("%s: the reference has no %s, the spec has %v", r.name, path, got)
		return
	}
	r.checked++
	// The reference has ten digits, which may round otherwise in the sixth.
	if relative(float64(got), float64(spec.Round(want))) > 1.001e-5 || spec.Round(float64(got)) != got {
		r.t.Errorf("%s: %s is %v, the reference says %v", r.name, path, got, want)
	}
}

// number is is of a number that must be there.
func (r *reference) number(path string, got *spec.Number, unit string) {
	r.t.Helper()
	if got == nil {
		r.t.Errorf("%s: %s is absent", r.name, path)
		return
	}
	r.is(path, got.Value)
	if got.From != spec.Measured || got.Unit != unit || got.N == 0 {
		r.t.Errorf("%s: %s is %+v", r.name, path, got)
	}
}

func (r *reference) length(key string, l spec.Length) {
	r.number(key+"/mean", &l.Mean, "tokens")
	r.number(key+"/sd_ddof1", l.SD, "tokens")
	for _, p := range []string{"p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9"} {
		var q float64
		fmt.Sscanf(p, "p%g", &q)
		i := slices.Index(l.Quantiles.P, spec.Round(q/100))
		if i < 0 {
			r.t.Errorf("%s: no %s of %s", r.name, p, key)
			continue
		}
		r.is(key+"/"+p+"_type1", l.Quantiles.Values[i])
	}
	r.is(key+"/min", l.Quantiles.Values[0])
	r.is(key+"/max", l.Quantiles.Values[len(l.Quantiles.Values)-1])
	if len(l.Families) != len(dist.Families()) {
		r.t.Errorf("%s: %d families of %s", r.name, len(l.Families), key)
	}
	for _, f := range l.Families {
		if f.Name == "negbin" || strings.HasPrefix(f.Name, "lnmix") {
			continue // held to the reference where they are fitted whole
		}
		at := key + "_fit/" + f.Name + "/"
		for _, p := range f.Params {
			r.is(at+"params/"+p.Name, p.Value)
		}
		r.is(at+"logL", f.LogL)
		r.is(at+"bic", f.BIC)
		r.is(at+"ks", f.KS)
	}
}

func (r *reference) arrivals(a spec.Arrivals, widths ...string) {
	r.number("arrival/mean_rate_n_over_span", &a.Rate, "1/s")
	r.number("arrival/span_s", a.Span, "s")
	for _, w := range widths {
		var s spec.Num
		fmt.Sscan(w, &s)
		p := slices.IndexFunc(a.PeakToMean, func(p spec.Peak) bool { return p.WidthS == s })
		i := slices.IndexFunc(a.IDC, func(v spec.ScaleValue) bool { return v.WidthS == s })
		if p < 0 || i < 0 {
			r.t.Errorf("%s: nothing at %s s", r.name, w)
			continue
		}
		r.is("arrival/peak_to_mean/"+w, a.PeakToMean[p].Value)
		r.is("arrival/idc/"+w, a.IDC[i].Value)
	}
}

func (r *reference) gaps(a spec.Arrivals) {
	r.number("arrival/cv_iat_global_ddof1", a.CV, "1")
	r.number("arrival/local/cv_median", a.LocalCV, "1")
	r.number("arrival/gamma_shape_moment_global", a.Gamma.Moments, "1")
	r.number("arrival/gamma_shape_mle_global_posIAT", a.Gamma.MLE, "1")
}

func (r *reference) prefix(p spec.Prefix) {
	paths := map[string]string{"tokens": "infinite/hit_rate_tokens", "blocks": "infinite/hit_rate_blocks",
		"full_blocks": "infinite_full_blocks_only/hit_rate_blocks", "full_block_tokens": "infinite_full_blocks_only/hit_rate_tokens",
		"mean_of_requests": "infinite/mean_per_request_token_hit_ratio"}
	for _, h := range p.HitRates {
		r.number(paths[h.Name], &h.Number, "1")
		if h.Denominator == "" {
			r.t.Errorf("%s: rate %s does not say what it divides by", r.name, h.Name)
		}
	}
	if len(p.HitRates) != len(paths) {
		r.t.Errorf("%s: %d hit rates", r.name, len(p.HitRates))
	}
	r.number("infinite/requests_with_any_hit", p.ShareRequests, "1")
}

// TestFitReference holds what lands in the spec to the reference values.
func TestFitReference(t *testing.T) {
	raw, err := os.ReadFile(shared(t, "reference", "statistics", "reference.json"))
	check(t, err)
	var ref struct{ Datasets map[string]any }
	check(t, json.Unmarshal(raw, &ref))
	for _, name := range []string{"azure2023_conv", "azure2023_code", "mooncake_conversation", "mooncake_synthetic"} {
		t.Run(name, func(t *testing.T) {
			r := &reference{t: t, name: name, data: ref.Datasets[name]}
			sp := fitted(t, load(t, name).asTrace(512))
			w := sp.Workload
			r.length("input", w.Lengths.Input)
			r.length("output", w.Lengths.Output)
			r.number("dependence/spearman", w.Lengths.Spearman, "1")
			if name == "mooncake_conversation" {
				r.arrivals(w.Arrivals, "10", "60")
			} else {
				r.arrivals(w.Arrivals, "1", "10", "60")
				r.gaps(w.Arrivals)
			}
			if name[:4] == "moon" {
				r.prefix(w.Prefix)
			}
			if r.checked < 50 {
				t.Errorf("only %d values were compared", r.checked)
			}
			t.Logf("%d values of the spec are those of the reference", r.checked)
		})
	}
}

// TestFitWarnings checks what the public traces cannot carry, or must warn of.
func TestFitWarnings(t *testing.T) {
	code := fitted(t, load(t, "azure2023_code").asTrace(16)).Workload.Arrivals
	if code.Gamma == nil || !strings.Contains(code.Gamma.Warning, "differ by more than a factor of 2") {
		t.Errorf("gaps that are not gamma pass without warning: %+v", code.Gamma)
	}
	conv := fitted(t, load(t, "azure2023_conv").asTrace(16))
	if a := conv.Workload.Arrivals; a.Gamma.Warning != "" || a.Resolution == nil || a.Resolution.Value != 1e-6 {
		t.Errorf("Azure-conv: %+v, resolution %+v", a.Gamma, a.Resolution)
	}
	if p := conv.Workload.Prefix; len(p.Notes) == 0 || p.Model != nil || p.HitRates != nil || p.ShareRequests != nil {
		t.Errorf("a log without prompts has prefixes: %+v", p)
	}
	asked(t, conv, "workload.prefix", true)
	asked(t, conv, "workload.arrivals", false)
	asked(t, conv, "workload.arrivals.peak_hour", true) // the log is under an hour
	sp := fitted(t, load(t, "mooncake_conversation").asTrace(512))
	a := sp.Workload.Arrivals
	if a.Resolution == nil || a.Resolution.Value < 2.99 || a.Resolution.Value > 3.01 {
		t.Errorf("batches of 3 s have a resolution of %+v", a.Resolution)
	}
	if a.CV != nil || a.LocalCV != nil || a.Gamma != nil {
		t.Errorf("gaps are told of a log in batches: %+v %+v %+v", a.CV, a.LocalCV, a.Gamma)
	}
	for _, what := range []string{"CV of gaps: n/a", "local CV: n/a", "gamma shape by MLE: n/a", "peak-to-mean at 1 s: n/a"} {
		if !slices.ContainsFunc(a.Notes, func(n string) bool { return strings.HasPrefix(n, what) }) {
			t.Errorf("no note of %q in %q", what, a.Notes)
		}
	}
	for _, p := range a.PeakToMean {
		if p.WidthS < 9 {
			t.Errorf("a peak at %v s is told of stamps every 3 s", p.WidthS)
		}
	}
	asked(t, sp, "workload.arrivals", true)
	asked(t, sp, "workload.prefix", false)
	asked(t, sp, "workload.features.several_completions", sp.Workload.Features.Several == nil)
	if m := sp.Workload.Prefix.Model; m.Continued == nil || m.Continued.Value < 0.8 || m.Continued.Value > 0.95 {
		t.Errorf("of the hits of conversations %+v continue a prompt", m.Continued)
	}
}

// asked checks whether a data request would replace a row.
func asked(t *testing.T, sp *spec.Spec, row string, want bool) {
	t.Helper()
	got := slices.ContainsFunc(sp.DataRequests, func(d spec.DataRequest) bool { return slices.Contains(d.Replaces, row) && d.Ask != "" })
	if got != want {
		t.Errorf("a data request for %s: %v, want %v", row, got, want)
	}
}

// TestFitPeakHour stretches a trace over three hours, the second of them twice
// as busy.
func TestFitPeakHour(t *testing.T) {
	var tr trace.Trace
	tr.Header = trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh,
		Time: trace.Time{Calendar: trace.CalendarHourOfWeek, Zero: "Thu 18:00:00.000000"}}
	for us := int64(0); us < 3*3600*second; {
		tr.Requests = append(tr.Requests, trace.Request{ID: int64(len(tr.Requests)), T: trace.Some(us), Input: trace.Some[int32](10), Output: trace.Some[int32](5), N: 1})
		step := int64(2 * second)
		if us >= 3600*second && us < 7200*second {
			step = second
		}
		us += step
	}
	sp := fitted(t, &tr)
	h := sp.Workload.Arrivals.PeakHour
	if h.StartS != 3600 || h.WidthS != 3600 || h.Rate != 1 || h.N != 3600 || h.Label != "Thu 19:00:00.000000" {
		t.Errorf("the peak hour is %+v", h)
	}
	if sp.Question.Load.Value != 1 || sp.Question.Load.Unit != "1/s" {
		t.Errorf("the load is %+v, want that of the peak hour", sp.Question.Load)
	}
	if l := sp.Workload.Lengths; l.Input.Mean.Value != 10 || len(l.Input.Families) != 1 || l.Input.Cap != nil || l.Spearman != nil {
		t.Errorf("equal lengths give %+v", l)
	}
}

func TestFitSameBytes(t *testing.T) {
	tr := load(t, "mooncake_synthetic").asTrace(512)
	encode := func() []byte {
		sp, err := Fit(tr, Options{})
		check(t, err)
		raw, err := spec.Encode(sp)
		check(t, err)
		return raw
	}
	first, again := encode(), encode()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if one := encode(); !bytes.Equal(first, again) || !bytes.Equal(first, one) {
		t.Error("two fits of one trace differ")
	}
}
