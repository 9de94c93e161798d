package bundle

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

var tool = trace.Tool{Name: "reprise", Version: "0.0.0", Commit: "none"}

// sourceHash is the hash of the log file in sample traces.
var sourceHash = strings.Repeat("cd", 32)

// sampleTrace is a random local trace: clients, sessions, shared beginnings.
func sampleTrace(seed uint64, n int) *trace.Trace {
	rng := rand.New(rand.NewPCG(seed, 1))
	t := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, Tool: tool, BlockTokens: 16, Tail: trace.TailFresh,
		Tokenizer: trace.Named{Name: "o200k_base", SHA256: strings.Repeat("ab", 32)},
		Time:      trace.Time{ResolutionUS: 1, Calendar: trace.CalendarHourOfWeek, Zero: "Thu 18:15:46.680590"},
		Profile:   "none", Sources: []trace.Source{{SHA256: sourceHash, Bytes: 99}},
		Counts: trace.Counts{Read: int64(n) + 7, Kept: int64(n), Rejected: map[string]int64{"bad_time": 4},
			Excluded: map[string]int64{"ACME GmbH internal": 3}}}}
	block, at := int32(1000), int64(0)
	for i := range int64(n) {
		at += int64(rng.ExpFloat64() * 200_000)
		r := trace.Request{ID: i, T: trace.Some(at), API: trace.Chat, Model: "model1", N: 1, From: trace.Counted, Finish: trace.FinishStop}
		if rng.IntN(50) == 0 {
			r.Model = "model2"
		}
		r.Session, r.Client = trace.Some(int32(rng.IntN(n/2+1))+40), trace.Some(int32(rng.IntN(12))+3)
		r.Input = trace.Some(int32(math.Exp(6+rng.NormFloat64())) + 20)
		r.Output = trace.Some(int32(math.Exp(4+rng.NormFloat64())) + 1)
		r.Stream = trace.Some(rng.IntN(3) > 0)
		r.Blocks = []int32{7, 8}
		for range rng.IntN(6) {
			r.Blocks = append(r.Blocks, block)
			block++
		}
		t.Requests = append(t.Requests, r)
	}
	return t
}

func grid() []float64 {
	p := []float64{0, 0.001, 0.01}
	for i := 1; i < 50; i++ {
		p = append(p, float64(2*i)/100)
	}
	return append(p, 0.99, 0.999, 1)
}

// quantiles are of type 1.
func quantiles(v []float64, p []float64) []spec.Num {
	v = slices.Sorted(slices.Values(v))
	out := make([]spec.Num, len(p))
	for i := range p {
		k := int(math.Ceil(p[i]*float64(len(v))-1e-9)) - 1
		out[i] = spec.Round(v[min(max(k, 0), len(v)-1)])
	}
	return out
}

func number(v float64, unit string, n int) *spec.Number {
	m := spec.MeasuredNumber(v, unit, int64(n))
	return &m
}

func lengthOf(v []float64) spec.Length {
	n := len(v)
	mean, m2 := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(n)
	}
	for _, x := range v {
		m2 += (x - mean) * (x - mean) / float64(n-1)
	}
	return spec.Length{Mean: *number(mean, "tokens", n), SD: number(math.Sqrt(m2), "tokens", n),
		Quantiles: spec.Table{Provenance: measured(n), P: spec.Nums(grid()), Values: quantiles(v, grid())},
		Families: []spec.Family{{Provenance: measured(n), Name: "lognormal", Label: "good", Params: []spec.Param{{Name: "mu", Value: spec.Round(math.Log(mean))},
			{Name: "sigma", Value: 1}}}}}
}

func measured(n int) spec.Provenance { return spec.Provenance{From: spec.Measured, N: int64(n)} }

// sampleSpec measures a trace: every section of a workload, its question open
// in nothing. It stands in for package fit, which this package must not reach.
func sampleSpec(t *trace.Trace) *spec.Spec {
	n := len(t.Requests)
	var in, out, turns []float64
	models, sessions := map[string]int{}, map[int32]int{}
	streams := 0
	last := t.Requests[n-1].T.V
	counts := make([]int64, last/60e6+1)
	for _, r := range t.Requests {
		in, out = append(in, float64(r.Input.V)), append(out, float64(r.Output.V))
		counts[r.T.V/60e6]++
		models[r.Model]++
		sessions[r.Session.V]++
		if r.Stream.V {
			streams++
		}
	}
	multi := 0
	for _, k := range sessions {
		turns = append(turns, float64(k))
		if k > 1 {
			multi++
		}
	}
	span := float64(last-t.Requests[0].T.V) / 1e6
	s := &spec.Spec{Kind: spec.Kind, Version: spec.Version, Revision: 1, Status: spec.Draft, Question: question(), Tool: tool,
		Approvals: []spec.Approval{{Role: "customer", Principal: "alice@customer.example"}, {Role: "vendor", Principal: "bob@vendor.example"}}}
	w := &s.Workload
	w.Lengths = spec.Lengths{Input: lengthOf(in), Output: lengthOf(out), Spearman: number(0.1, "1", n), Joint: strataOf(in, out)}
	w.Arrivals = spec.Arrivals{Process: spec.ProcessCounts, Rate: *number(float64(n)/span, "1/s", n), Span: number(span, "s", n), Resolution: number(1e-6, "s", n),
		Rates: &spec.RateSeries{Provenance: measured(n), WidthS: 60, LastS: spec.Round(math.Mod(float64(last)/1e6, 60)), Zero: t.Header.Time.Zero, Counts: counts},
		CV:    number(1, "1", n), LocalCV: number(1, "1", n), IDC: []spec.ScaleValue{{Provenance: measured(n), WidthS: 60, Value: 1.2}},
		PeakToMean: []spec.Peak{{Provenance: measured(n), WidthS: 1, Value: 3, PoissonP5: 2, PoissonP50: 3, PoissonP95: 4},
			{Provenance: measured(n), WidthS: 60, Value: 1.2, PoissonP5: 1, PoissonP50: 1.1, PoissonP95: 1.3}},
		Gamma:    &spec.GammaShape{Moments: number(1, "1", n)},
		Split:    &spec.Split{Provenance: measured(n), Steps: []spec.SplitStep{{ParentS: 60, ChildS: 30, Rho: 0.001, NullSD: 0.001}}},
		PeakHour: &spec.PeakWindow{Provenance: measured(n), StartS: 61.5, WidthS: 60, Rate: spec.Round(float64(n) / span), Label: "Thu 18:16"},
		Notes:    []string{"time stamps are whole seconds", "17 gaps are zero"}}
	w.Prefix = spec.Prefix{BlockTokens: 16, ShareRequests: number(float64(n-1)/float64(n), "1", n),
		HitRates: []spec.HitRate{{Name: "tokens", Denominator: "input tokens", Number: *number(0.4, "1", n)}},
		Roots:    []spec.Root{{Provenance: measured(n), Tokens: 30, Share: 1}, {Provenance: measured(3), Tokens: 512, Share: spec.Round(3 / float64(n))}},
		Model:    reuseOf(in)}
	w.Sessions = &spec.Sessions{Count: *number(float64(len(sessions)), "sessions", len(sessions)), MeanTurns: *number(float64(n)/float64(len(sessions)), "1", len(sessions)),
		ShareMultiple: *number(float64(multi)/float64(len(sessions)), "1", len(sessions)),
		Turns:         spec.Table{Provenance: measured(len(sessions)), P: spec.Nums(grid()), Values: quantiles(turns, grid())}}
	w.Features = spec.Features{Stream: number(float64(streams)/float64(n), "1", n), Schema: number(3/float64(n), "1", n)}
	for _, m := range []string{"model1", "model2"} {
		w.Features.Models = append(w.Features.Models, spec.Share{Alias: m, Number: *number(float64(models[m])/float64(n), "1", models[m])})
	}
	s.Privacy.Profile, s.Privacy.Calendar = "local", t.Header.Time.Calendar
	return s
}

func question() spec.Question {
	q := spec.Question{Mix: "the chat mix", DateLabel: "a Thursday in November", Load: spec.Load{Value: 5.5, Unit: "1/s"},
		SLO: []spec.SLO{{Metric: "ttft", Percentile: 95, ThresholdMS: 800, MeasuredAt: "client"}}, Region: "eu-west", Comparison: "none",
		OutOfScope: []string{"images"}, ClientRunBy: "vendor", Handoff: "reprise replay trace.parquet --url $URL"}
	q.Sentence = q.Build()
	return q
}

// byInput cuts the positions of in into ten parts by value.
func byInput(in []float64) [][]int {
	order := make([]int, len(in))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(in[a] - in[b]) })
	var parts [][]int
	for from := 0; from < len(order); {
		to := min(from+len(order)/10+1, len(order))
		for to < len(order) && in[order[to]] == in[order[to-1]] {
			to++
		}
		parts = append(parts, order[from:to])
		from = to
	}
	return parts
}

func strataOf(in, out []float64) *spec.Joint {
	j := &spec.Joint{Provenance: measured(len(in))}
	for _, part := range byInput(in) {
		var v []float64
		for _, i := range part {
			v = append(v, out[i])
		}
		j.Strata = append(j.Strata, spec.Stratum{Upto: spec.Round(in[part[len(part)-1]]), N: int64(len(part)), P: spec.Nums(grid()), Output: quantiles(v, grid())})
	}
	return j
}

// reuseOf makes up depths that have to do with the input, and distances.
func reuseOf(in []float64) *spec.Reuse {
	m := &spec.Reuse{Provenance: measured(len(in)), P: spec.Nums(grid())}
	for _, part := range byInput(in) {
		var depth, distance []float64
		for k, i := range part {
			depth = append(depth, float64(k%5)*math.Floor(min(in[i], 400)/100))
			distance = append(distance, float64(k*k%977))
		}
		m.Strata = append(m.Strata, spec.ReuseStratum{Upto: spec.Round(in[part[len(part)-1]]), N: int64(len(part)),
			HitBlocks: quantiles(depth, grid()), Distance: quantiles(distance, grid())})
	}
	return m
}

func input(t *trace.Trace, profile string) Input {
	return Input{Spec: sampleSpec(t), Trace: t, TraceSHA256: strings.Repeat("12", 32), Profile: profile, Tool: tool}
}

// written makes a bundle of a sample trace and opens it.
func written(t *testing.T, in Input) *Bundle {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "b")
	if err := Write(dir, in); err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// filesOf reads every file below a directory.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
