package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
)

// workday is half a day whose rate rises and falls, in gusts, with lengths that go
// together and a shared beginning in most prompts.
func workday() *trace.Trace {
	r := rand.New(rand.NewPCG(8, 8))
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh,
		Time: trace.Time{Calendar: trace.CalendarNone}}}
	next := int32(8)
	for m := range 720 {
		rate := (10 - 6*math.Cos(2*math.Pi*float64(m)/720)) / 4 * (r.ExpFloat64() + r.ExpFloat64() + r.ExpFloat64() + r.ExpFloat64())
		for at := r.ExpFloat64(); at < rate; at += r.ExpFloat64() {
			z := r.NormFloat64()
			q := trace.Request{ID: int64(len(x.Requests)), N: 1, T: trace.Some(int64((float64(m) + at/rate) * 60e6)),
				Input: trace.Some(1 + int32(math.Exp(6+0.8*z))), Output: trace.Some(1 + int32(math.Exp(5+0.5*z+0.5*r.NormFloat64())))}
			for k := range (q.Input.V + 15) / 16 {
				if k < 8 && q.Input.V >= 16*(k+1) && r.IntN(40) > 0 {
					q.Blocks = append(q.Blocks, k)
				} else {
					for range (q.Input.V+15)/16 - k {
						q.Blocks, next = append(q.Blocks, next), next+1
					}
					break
				}
			}
			x.Requests = append(x.Requests, q)
		}
	}
	return x
}

// changed is a copy of which keep says what stays and how.
func changed(x *trace.Trace, keep func(i int, q *trace.Request) bool) *trace.Trace {
	out := &trace.Trace{Header: x.Header}
	for i, q := range x.Requests {
		if keep(i, &q) {
			out.Requests = append(out.Requests, q)
		}
	}
	slices.SortStableFunc(out.Requests, func(a, b trace.Request) int { return int(a.T.V - b.T.V) })
	return out
}

// TestTells changes one thing of a workload at a time: the metrics that are about
// it miss, and those that are not do not.
func TestTells(t *testing.T) {
	a := workday()
	order := rand.New(rand.NewPCG(9, 9)).Perm(len(a.Requests))
	minutes := rand.New(rand.NewPCG(10, 10)).Perm(720)
	for _, c := range []struct {
		name   string
		keep   func(i int, q *trace.Request) bool
		misses []string // sections
		one    string   // a metric that must miss
	}{
		{"nothing", func(int, *trace.Request) bool { return true }, nil, ""},
		{"answers a fifth longer", func(_ int, q *trace.Request) bool { q.Output.V += q.Output.V / 5; return true }, []string{sectionLengths}, "output mean"},
		{"half the rate", func(i int, _ *trace.Request) bool { return i%2 == 0 }, []string{sectionArrivals, sectionQueue}, "rate"},
		{"answers of another prompt", func(i int, q *trace.Request) bool { q.Output = a.Requests[order[i]].Output; return true }, []string{sectionLengths}, jointName},
		{"nothing shared", func(i int, q *trace.Request) bool {
			b := make([]int32, len(q.Blocks))
			for k := range b {
				b[k] = int32(1e6 + 4000*i + k)
			}
			q.Blocks = b
			return true
		}, []string{sectionPrefix}, hitTokens},
		{"an hour missing", func(_ int, q *trace.Request) bool { return q.T.V < 9*3600e6 || q.T.V >= 10*3600e6 }, []string{sectionArrivals, sectionQueue}, courseName},
		{"minutes in another order", func(_ int, q *trace.Request) bool {
			m := q.T.V / 60e6
			q.T.V += (int64(minutes[m]) - m) * 60e6
			return true
		}, []string{sectionArrivals, sectionPrefix, sectionQueue}, courseName},
	} {
		r, err := Traces(a, []*trace.Trace{changed(a, c.keep)}, Options{Limits: Fidelity, Seed: 1})
		check(t, err)
		missed := false
		for _, m := range r.Misses() {
			missed = missed || strings.HasPrefix(m.Name, c.one)
			if !slices.Contains(c.misses, m.Section) {
				t.Errorf("%s: %s misses, %.4g of %.4g", c.name, m.Name, m.Off.V, m.Limit.V)
			}
		}
		if c.one != "" && !missed {
			t.Errorf("%s: %q does not miss", c.name, c.one)
		}
	}
}

// TestQueueRoom lets waits differ by two standard deviations, and not by three.
func TestQueueRoom(t *testing.T) {
	r := &Report{A: Side{Requests: 1000}, B: Side{Requests: 1000}, Metrics: []Metric{
		{Section: sectionQueue, Name: "mean wait", Off: some(0.35), Limit: some(0.25), Noise: some(0.30)},
		{Section: sectionQueue, Name: "p99 wait", Off: some(0.29), Limit: some(0.25), Noise: some(0.30)},
		{Section: sectionLengths, Name: "input mean", Off: some(0.35), Limit: some(0.25), Noise: some(0.30)}}}
	r.judge()
	for i, want := range []Verdict{Miss, Pass, Pass} {
		if got := r.Metrics[i].Verdict; got != want {
			t.Errorf("%s: %s, want %s", r.Metrics[i].Name, got, want)
		}
	}
}

// TestFreshBlocks does not look at the blocks of a synthetic trace whose source
// tells none.
func TestFreshBlocks(t *testing.T) {
	b := workday()
	a := changed(b, func(_ int, q *trace.Request) bool { q.Blocks = nil; return true })
	r, err := Traces(a, []*trace.Trace{b}, Options{Limits: Fidelity, Seed: 1})
	check(t, err)
	for _, m := range r.Metrics {
		if m.Section == sectionPrefix {
			t.Errorf("%s is told: %+v", m.Name, m)
		}
	}
}
