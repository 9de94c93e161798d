package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reprise/trace"
	"reprise/trace/spec"
)

// drawn is a trace of arrivals with lengths that say nothing of each other; edit
// may change the i-th request.
func drawn(times []int64, r *rand.Rand, edit func(i int, q *trace.Request)) *trace.Trace {
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh,
		Time: trace.Time{Calendar: trace.CalendarHourOfWeek, Zero: "Mon 00:00:00.000000"}}}
	for i, at := range times {
		q := trace.Request{ID: int64(i), N: 1, T: trace.Some(at), Finish: trace.FinishStop,
			Input:  trace.Some(int32(math.Exp(7 + r.NormFloat64()))),
			Output: trace.Some(1 + int32(math.Exp(5+0.8*r.NormFloat64())))}
		if edit != nil {
			edit(i, &q)
		}
		x.Requests = append(x.Requests, q)
	}
	return x
}

// TestClientsAlike holds the share of variance between clients that do not differ
// to about nothing: eta squared is k/n, 0.4 here.
func TestClientsAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 21))
	x := drawn(poisson(r, 5000, 2, 1), r, func(_ int, q *trace.Request) { q.Client = trace.Some(r.Int32N(2000)) })
	sp, err := Fit(x, Options{})
	check(t, err)
	if b := sp.Workload.Lengths.Between; b == nil || b.Input > 0.06 || b.Output > 0.06 {
		t.Errorf("between clients that are all alike lies %+v of the variance", b)
	}
	x = drawn(poisson(r, 5000, 2, 1), r, func(_ int, q *trace.Request) {
		c := r.Int32N(50)
		q.Client, q.Output = trace.Some(c), trace.Some(100+10*c+r.Int32N(289)) // variances 20825 between, 6960 within
	})
	sp, err = Fit(x, Options{})
	check(t, err)
	if b := sp.Workload.Lengths.Between; math.Abs(float64(b.Output)-0.75) > 0.02 || b.Input > 0.02 {
		t.Errorf("between clients lies %+v of the variance, want 0.75 of that of outputs", b)
	}
}

// TestCutAnswers finds the law of answers that max_tokens cut, and that it is a
// good one: the distance is that from what was not cut.
func TestCutAnswers(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 21))
	x := drawn(poisson(r, 8000, 2, 1), r, func(i int, q *trace.Request) {
		if limit := []int32{300, 400, 1000}[i%3]; q.Output.V > limit {
			q.Output, q.Finish = trace.Some(limit), trace.FinishLength
		}
	})
	sp, err := Fit(x, Options{})
	check(t, err)
	l := sp.Workload.Lengths.Output
	best := l.Families[0]
	if best.Name != "lognormal" || best.KS > 0.02 || best.Label != "good" || math.Abs(float64(best.Params[0].Value)-5) > 0.03 {
		t.Errorf("the best family of a lognormal that is cut is %+v", best)
	}
	if !slices.IsSortedFunc(l.Families, func(a, b spec.Family) int { return int(a.BIC - b.BIC) }) {
		t.Error("the families are not in the order of BIC")
	}
}

// TestFewAreNoCap does not take the longest of fifty answers, 2 % of them, for a
// cap.
func TestFewAreNoCap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 21))
	sp, err := Fit(drawn(poisson(r, 50, 2, 1), r, nil), Options{})
	check(t, err)
	if l := sp.Workload.Lengths; l.Input.Cap != nil || l.Output.Cap != nil {
		t.Errorf("caps %+v and %+v", l.Input.Cap, l.Output.Cap)
	}
}

// gusts are arrivals whose rate is drawn anew each minute, gamma with shape 2: an
// index of dispersion of 1 + mean/2 by the minute.
func gusts(r *rand.Rand, minutes int, mean float64) []int64 {
	var out []int64
	for m := range minutes {
		rate := mean / 2 * (r.ExpFloat64() + r.ExpFloat64())
		for at := r.ExpFloat64(); at < rate; at += r.ExpFloat64() {
			out = append(out, int64((float64(m)+at/rate)*60e6))
		}
	}
	return out
}

// TestLongLog tells of three days the peak hour over the mean one, and of the bins
// of its series, which are wider than a minute, how minutes differ inside them.
func TestLongLog(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 21))
	times := gusts(r, 3*1440, 10)
	a, err := arrivalSection(trace.Time{Calendar: trace.CalendarNone}, &rows{n: int64(len(times)), timed: true, times: times}, time.UTC)
	check(t, err)
	hours := make([]float64, 71)
	for _, at := range times {
		if h := int((at - times[0]) / 3600e6); h < len(hours) {
			hours[h]++
		}
	}
	want, sum := 0.0, 0.0
	for _, n := range hours {
		want, sum = max(want, n), sum+n/71
	}
	i := slices.IndexFunc(a.PeakToMean, func(p spec.Peak) bool { return p.WidthS == 3600 })
	if i < 0 || math.Abs(float64(a.PeakToMean[i].Value)-want/sum) > 1e-4 {
		t.Errorf("peak-to-mean %+v, want %.4f at an hour", a.PeakToMean, want/sum)
	}
	// Each of 5 minutes has rate Gamma(2): shares are Dirichlet(2, 2, 2, 2, 2), of
	// intra-class correlation 1/(5·2+1).
	if s := a.Split.Steps[0]; a.Rates.WidthS != 300 || s.ParentS != 300 || s.ChildS != 60 || math.Abs(float64(s.Rho)-1.0/11) > 0.01 {
		t.Errorf("bins of %v s are split by %+v, want rho 0.091", a.Rates.WidthS, s)
	}
}
