package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

// outlier gives the trace one request that has the longest input and output.
func outlier(t *trace.Trace, in, out int32) *trace.Trace {
	r := &t.Requests[len(t.Requests)/2]
	r.Input, r.Output = trace.Some(in), trace.Some(out)
	return t
}

// One user's huge request changes nothing that leaves, and its lengths are
// nowhere in the bundle.
func TestHugeRequestChangesNothing(t *testing.T) {
	for _, n := range []int{300, 3000} {
		plain := filesOf(t, written(t, input(outlier(sampleTrace(4, n), 90_001, 70_001), "aggregate")).Dir())
		huge := filesOf(t, written(t, input(outlier(sampleTrace(4, n), 76_543_219, 65_432_198), "aggregate")).Dir())
		for _, name := range slices.Sorted(maps.Keys(plain)) {
			if plain[name] != huge[name] {
				t.Errorf("n=%d: %s tells the traces apart", n, name)
			}
			for _, v := range []string{"90001", "70001", "7.65", "6.54", "76543", "65432"} {
				if strings.Contains(huge[name], v) && name == SpecFile || strings.Contains(plain[name], v) && name == SpecFile {
					t.Errorf("n=%d: %s holds %s", n, name, v)
				}
			}
		}
		if _, ok := plain[TraceFile]; ok {
			t.Error("rows leave")
		}
	}
}

// The exact profile does tell them apart: the test above can fail.
func TestHugeRequestShowsInExact(t *testing.T) {
	a := filesOf(t, written(t, input(outlier(sampleTrace(4, 300), 90_001, 70_001), "exact")).Dir())
	if !strings.Contains(a[SpecFile], "90001") {
		t.Error("the exact spec does not hold the largest input")
	}
}

// Every group that is published has k members, and every quantile k records on
// either side.
func TestAggregateKeepsK(t *testing.T) {
	for seed := range uint64(6) {
		for _, k := range []int{5, 20, 50} {
			in := input(sampleTrace(seed, 1200+300*int(seed)), "aggregate")
			in.K = k
			b := written(t, in)
			w := &b.Spec.Workload
			checkTable(t, w.Lengths.Input.Quantiles, k)
			checkTable(t, w.Lengths.Output.Quantiles, k)
			if j := w.Lengths.Joint; j != nil {
				for _, s := range j.Strata {
					checkStratum(t, s, top(w.Lengths.Output), k)
				}
				if last := j.Strata[len(j.Strata)-1].Upto; last != top(w.Lengths.Input) {
					t.Errorf("the strata end at %v, the inputs at %v", last, top(w.Lengths.Input))
				}
			}
			if w.Arrivals.Rates != nil {
				for _, c := range w.Arrivals.Rates.Counts {
					if c > 0 && c < int64(k) {
						t.Errorf("k=%d: a bin of %d", k, c)
					}
				}
			}
			if m := w.Prefix.Model; m != nil {
				for _, s := range m.Strata {
					checkClamped(t, m.P, s.HitBlocks, s.N, k)
				}
			}
			if got := auditOf(t, b).Reident.SmallestGroup; got < int64(k) {
				t.Errorf("k=%d: the audit counts a group of %d", k, got)
			}
			if len(w.Lengths.Input.Families) > 0 || w.Lengths.Input.SD != nil {
				t.Error("moments leave")
			}
		}
	}
}

func checkTable(t *testing.T, q spec.Table, k int) {
	t.Helper()
	for _, p := range q.P {
		if below, above := float64(p)*float64(q.N), (1-float64(p))*float64(q.N); below < float64(k)-0.01 || above < float64(k)-0.01 {
			t.Errorf("k=%d: p=%v of %d records leaves", k, p, q.N)
		}
	}
	if len(q.P) == 0 || !slices.IsSorted(q.Values) {
		t.Errorf("a table of %d points, sorted %v", len(q.P), slices.IsSorted(q.Values))
	}
}

// checkStratum holds the values up to a stratum's own threshold to it; those
// above come from the table of all outputs, and so do not pass its top.
func checkStratum(t *testing.T, s spec.Stratum, top spec.Num, k int) {
	t.Helper()
	_, to := inside(s.P, s.N, int64(k))
	checkTable(t, spec.Table{Provenance: spec.Provenance{N: s.N}, P: s.P[:to], Values: s.Output[:to]}, k)
	if last := s.Output[len(s.Output)-1]; last > max(top, s.Output[to-1]) || !slices.IsSorted(s.Output) {
		t.Errorf("k=%d: a stratum ends at %v, all outputs at %v", k, last, top)
	}
}

// Two strata of 100 lose a fifth each above 0.8, as much as all outputs have
// above 0.8: so 0.9 is the 0.9 of all outputs, unless that is lower than what
// the stratum has already.
func TestTails(t *testing.T) {
	p := spec.Nums([]float64{0, 0.5, 0.8, 0.9, 1})
	strata := []spec.Stratum{{N: 100, P: p, Output: spec.Nums([]float64{1, 2, 3, 777, 888})}, {N: 100, P: p, Output: spec.Nums([]float64{1, 20, 60, 777, 888})}}
	all := &spec.Table{P: spec.Nums([]float64{0.1, 0.8, 0.9}), Values: spec.Nums([]float64{1, 40, 50})}
	if h := (&holder{k: 20}); !h.tails(strata, all) {
		t.Error("nothing was cut")
	}
	for i, want := range [][]float64{{2, 3, 50, 50}, {20, 60, 60, 60}} {
		if !slices.Equal(strata[i].Output, spec.Nums(want)) || len(strata[i].P) != 4 {
			t.Errorf("stratum %d: %v, want %v", i, strata[i].Output, want)
		}
	}
}

// checkClamped holds a table of shared probabilities to its own thresholds:
// beyond them, it repeats the values at them.
func checkClamped(t *testing.T, p, v []spec.Num, n int64, k int) {
	t.Helper()
	from, to := inside(p, n, int64(k))
	for i := range p {
		if i < from && v[i] != v[from] || i >= to && v[i] != v[to-1] {
			t.Errorf("k=%d: the value at p=%v of %d records leaves", k, p[i], n)
		}
	}
}

// Tables with nothing between their ends have nothing to show.
func TestBareTablesAreHeldBack(t *testing.T) {
	in := input(sampleTrace(1, 3000), "aggregate")
	m := in.Spec.Workload.Prefix.Model
	m.P = spec.Nums([]float64{0, 1})
	for i := range m.Strata {
		m.Strata[i].HitBlocks, m.Strata[i].Distance = spec.Nums([]float64{0, 9}), spec.Nums([]float64{1, 99})
	}
	j := in.Spec.Workload.Lengths.Joint
	for i := range j.Strata {
		j.Strata[i].P, j.Strata[i].Output = spec.Nums([]float64{0, 1}), spec.Nums([]float64{1, 99})
	}
	w := written(t, in).Spec.Workload
	if w.Prefix.Model != nil || w.Lengths.Joint != nil {
		t.Error("tables of two ends leave")
	}
}

func TestAggregateRefuses(t *testing.T) {
	cases := map[string]func() Input{
		"workload.lengths.input.quantiles rests on 30 records, and k = 20 asks for 40": func() Input { return input(sampleTrace(1, 30), "aggregate") },
		"fewer than u = 13 clients": func() Input {
			in := input(sampleTrace(1, 600), "aggregate")
			in.U = 13
			return in
		},
	}
	for want, in := range cases {
		if err := Write(t.TempDir()+"/b", in()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// The u rule is said to be unchecked where nobody can check it.
func TestUserRule(t *testing.T) {
	anonymous := sampleTrace(1, 600)
	for i := range anonymous.Requests {
		anonymous.Requests[i].Client = trace.Opt[int32]{}
	}
	none := input(sampleTrace(1, 600), "aggregate")
	none.Trace = nil
	for want, in := range map[string]Input{
		"u not checked: the log names no client": input(anonymous, "aggregate"),
		"u not checked: no trace was given":      none,
		"u checked: the log names 12 clients":    input(sampleTrace(1, 600), "aggregate"),
	} {
		if got := auditOf(t, written(t, in)).UserRule; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A workload that a person stated has no records to protect.
func TestStatedSpecIsLeftAlone(t *testing.T) {
	s := sampleSpec(sampleTrace(1, 60))
	p := spec.Provenance{From: spec.Assumed, Ask: "a log"}
	n := spec.AssumedNumber(1, "1", "a log")
	table := spec.Table{Provenance: p, P: spec.Nums([]float64{0, 1}), Values: spec.Nums([]float64{1, 99})}
	family := []spec.Family{{Provenance: spec.Provenance{From: spec.Assumed, Ask: "lengths"}, Name: "lognormal", Label: "assumed", Params: []spec.Param{{Name: "mu", Value: 1}}}}
	length := spec.Length{Mean: n, Quantiles: table, Families: family}
	s.Workload = spec.Workload{Lengths: spec.Lengths{Input: length, Output: length}, Arrivals: spec.Arrivals{Process: spec.ProcessPoisson, Rate: n},
		Prefix: spec.Prefix{BlockTokens: 16, ShareRequests: &n, Roots: []spec.Root{{Provenance: p, Tokens: 500, Share: 1}},
			Model: &spec.Reuse{Provenance: p, P: spec.Nums([]float64{0, 1}), Strata: []spec.ReuseStratum{{Upto: 1e7, HitBlocks: spec.Nums([]float64{31, 31})}}}}}
	b := written(t, Input{Spec: s, Profile: "aggregate", Tool: tool})
	if held := b.Spec.Privacy.HeldBack; len(held) > 0 {
		t.Errorf("held back %v", held)
	}
	if got, want := fmt.Sprint(b.Spec.Workload.Prefix.Roots, b.Spec.Workload.Lengths.Input), fmt.Sprint(s.Workload.Prefix.Roots, s.Workload.Lengths.Input); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An adapter is often one tenant's: it leaves only with u clients behind it.
func TestAliases(t *testing.T) {
	h := &holder{k: 20, u: 2, trace: &trace.Trace{}}
	add := func(name string, n int, clients int32) {
		for i := range n {
			h.trace.Requests = append(h.trace.Requests, trace.Request{Adapter: name, Client: trace.Some(int32(i) % clients)})
		}
	}
	add("many", 500, 5)
	add("tenant", 300, 1)
	add("some", 60, 3)
	add("rare", 3, 3)
	var in []spec.Share
	for name, n := range map[string]float64{"many": 500, "tenant": 300, "some": 60, "rare": 3} {
		in = append(in, spec.Share{Alias: name, Number: spec.MeasuredNumber(n/863, "1", 863)})
	}
	by := func(r *trace.Request) string { return r.Adapter }
	got := h.aliases("a", in, by)
	var names []string
	for _, s := range got {
		names = append(names, fmt.Sprintf("%s %.3f", s.Alias, float64(s.Value)))
	}
	if want := []string{"many 0.579", "some 0.070", "other 0.351"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	// Two names of which one is rare: the other's share would give it away.
	h = &holder{k: 20, u: 2}
	if got := h.aliases("a", []spec.Share{{Alias: "x", Number: spec.MeasuredNumber(0.995, "1", 1000)}, {Alias: "y", Number: spec.MeasuredNumber(0.005, "1", 1000)}}, by); got != nil {
		t.Errorf("%v leaves", got)
	}
}

func TestRates(t *testing.T) {
	series := func(last spec.Num, counts ...int64) *spec.Arrivals {
		return &spec.Arrivals{Process: spec.ProcessCounts, Rates: &spec.RateSeries{Provenance: measured(int(total(counts))), WidthS: 60, LastS: last, Counts: counts},
			Split: &spec.Split{Steps: []spec.SplitStep{{ParentS: 60, ChildS: 30}}}}
	}
	for name, c := range map[string]struct {
		in   *spec.Arrivals
		want string
	}{
		"as it is":                {series(60, 20, 0, 25), "60 s, last 60 s: [20 0 25], steps 1"},
		"five minutes":            {series(60, 20, 3, 0, 0, 9, 30, 0, 0, 0, 1), "300 s, last 300 s: [32 31], steps 2"},
		"last bin enough":         {series(12.25, 20, 22, 24), "60 s, last 13 s: [20 22 24], steps 1"},
		"last bin thin":           {series(12, 90, 70, 50, 40, 30, 3), "60 s, last 60 s: [90 70 50 40], steps 1"},
		"empty and enough before": {series(12, 30, 30, 22, 0, 2), "60 s, last 60 s: [30 30], steps 1"},
	} {
		h := &holder{k: 20}
		h.rates(c.in)
		r := c.in.Rates
		if r == nil {
			t.Errorf("%s: held back", name)
			continue
		}
		if got := fmt.Sprintf("%v s, last %v s: %v, steps %d", float64(r.WidthS), float64(r.LastS), r.Counts, len(c.in.Split.Steps)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	h, a := &holder{k: 20}, series(60, 5, 5)
	h.rates(a)
	if a.Rates != nil || a.Split != nil || a.Process != spec.ProcessPoisson || len(h.held) != 2 {
		t.Errorf("%+v, held %v", a, h.held)
	}
}

// Known answers: all in one child is 1; (5,5) of 10 is (2·40/90−1)/1.
func TestDispersion(t *testing.T) {
	for _, c := range []struct {
		counts []int64
		m      int
		rho    float64
	}{{[]int64{0, 10, 0, 0, 7, 0}, 3, 1}, {[]int64{5, 5}, 2, -1.0 / 9}, {[]int64{5, 5, 99}, 2, -1.0 / 9}} {
		rho, sd, ok := dispersion(c.counts, c.m)
		if !ok || sd <= 0 || rho < c.rho-1e-12 || rho > c.rho+1e-12 {
			t.Errorf("%v: rho %v, want %v", c.counts, rho, c.rho)
		}
	}
	if _, _, ok := dispersion([]int64{1, 0}, 2); ok {
		t.Error("one arrival has a dispersion")
	}
}

func TestTableMath(t *testing.T) {
	p := spec.Nums([]float64{0, 0.5, 1})
	if m := tableMean(p, spec.Nums([]float64{0, 10, 20})); m != 10 {
		t.Errorf("mean %v, want 10", m)
	}
	if m := tableMean(spec.Nums([]float64{0.25, 0.75}), spec.Nums([]float64{10, 20})); m != 15 {
		t.Errorf("mean %v, want 15", m)
	}
	// a quarter of tens, three quarters of twenties
	q := spec.Nums([]float64{0, 0.1, 0.24, 0.26, 1})
	tens, twenties := spec.Nums([]float64{10, 10, 10}), spec.Nums([]float64{20, 20, 20})
	if got := mix(q, part{1, p, tens}, part{3, p, twenties}); !slices.Equal(got, spec.Nums([]float64{10, 10, 10, 20, 20})) {
		t.Errorf("mixture %v", got)
	}
	if from, to := inside(p, 40, 20); from != 1 || to != 2 {
		t.Errorf("of 0, 0.5, 1 with n=2k, [%d,%d) stays, want the median", from, to)
	}
}

// Labels are cut to the hour and never say more than the policy.
func TestLabels(t *testing.T) {
	for _, c := range []struct{ label, policy, want string }{
		{"Thu 18:15:46.680590", trace.CalendarHourOfWeek, "Thu 18:00:00.000000"},
		{"Thu 18:15", trace.CalendarHourOfWeek, "Thu 18:00:00.000000"},
		{"Thu 18:15", trace.CalendarDate, "Thu 18:00:00.000000"},
		{"2023-11-16T18:15:46.680590Z", trace.CalendarHourOfWeek, "Thu 18:00:00.000000"},
		{"2023-11-16T18:15:46.680590Z", trace.CalendarDate, "2023-11-16T18:00:00.000000Z"},
		{"2023-11-16T18:15:46.680590Z", trace.CalendarNone, ""},
		{"the day of the launch", trace.CalendarDate, ""},
	} {
		if got := specLabel(c.label, c.policy); got != c.want {
			t.Errorf("%q under %s is %q, want %q", c.label, c.policy, got, c.want)
		}
	}
}
