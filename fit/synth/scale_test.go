package synth_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/fit"
	"reprise/fit/synth"
	"reprise/trace"
)

// usersOf draws five hours of a service with a wave of rate: in every minute each
// of so many independent groups has a gamma-distributed rate of its own, of CV cv.
func usersOf(groups int, cv float64, seed uint64) *trace.Trace {
	rng := rand.New(rand.NewPCG(seed, 8))
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh, Time: trace.Time{ResolutionUS: 1, Calendar: trace.CalendarNone}}}
	var times []int64
	const minutes = 300
	for m := range minutes {
		for range groups {
			rate := (0.6 + 0.3*math.Sin(2*math.Pi*float64(m)/minutes))
			if cv > 0 {
				g := fit.GammaGaps(1/rate, cv) // mean rate, CV cv
				rate = g.Rand(rng)
			}
			for at := rng.ExpFloat64() / rate; at < 60; at += rng.ExpFloat64() / rate {
				times = append(times, int64((float64(m)*60+at)*1e6))
			}
		}
	}
	slices.Sort(times)
	for i, at := range times {
		x.Requests = append(x.Requests, trace.Request{ID: int64(i), T: trace.Some(at - times[0]), Input: trace.Some(int32(100)), Output: trace.Some(int32(10)), N: 1})
	}
	return x
}

// idc60 is the index of dispersion of counts by the minute.
func idc60(t *testing.T, x *trace.Trace) float64 {
	t.Helper()
	s, err := fit.Arrivals(fit.Times(x))
	check(t, err)
	for _, b := range s.Bins {
		if b.WidthUS == 60e6 {
			return b.IDC.Value
		}
	}
	t.Fatal("no bins of a minute")
	return 0
}

// TestScaleAddsUsers draws three times and half the users of a log, and compares
// the dispersion of minutes with that of a log of so many: of three groups where
// the spec saw one, and of one where it saw two. Smooth traffic and bursty alike.
func TestScaleAddsUsers(t *testing.T) {
	for _, cv := range []float64{0, 1} {
		var want, got float64
		const draws = 2
		for seed := range uint64(draws) {
			want += idc60(t, usersOf(3, cv, 100+seed)) / draws
			sp, err := fit.Fit(usersOf(1, cv, seed), fit.Options{})
			check(t, err)
			x, err := synth.Trace(sp, synth.Options{Seed: seed, Scale: 3})
			check(t, err)
			if n, three := len(x.Requests), 3*int(sp.Workload.Arrivals.Rate.N); n != three {
				t.Errorf("%d requests, want %d", n, three)
			}
			got += idc60(t, x) / draws
		}
		t.Logf("CV %v: IDC(60 s) of three times the users %.2f, drawn %.2f", cv, want, got)
		if math.Abs(math.Log(got/want)) > 0.2 {
			t.Errorf("CV %v: the IDC at 60 s is %.2f, that of three times the users is %.2f", cv, got, want)
		}
	}
}

// TestThinned halves a Poisson log: it stays Poisson, and is not made even.
func TestThinned(t *testing.T) {
	sp, err := fit.Fit(usersOf(4, 0, 5), fit.Options{})
	check(t, err)
	flat := usersOf(2, 0, 6)
	x, err := synth.Trace(sp, synth.Options{Seed: 2, Scale: 0.5})
	check(t, err)
	if got, want := idc60(t, x), idc60(t, flat); math.Abs(math.Log(got/want)) > 0.25 {
		t.Errorf("the IDC at 60 s is %.2f, that of half the users is %.2f", got, want)
	}
	a := &sp.Workload.Arrivals
	a.Rates.Counts = []int64{1 << 61, 1 << 61}
	a.Rates.LastS = a.Rates.WidthS
	if _, err := synth.Trace(sp, synth.Options{Scale: 0.5}); err == nil {
		t.Error("10^18 requests are drawn")
	}
	if _, err := synth.Trace(sp, synth.Options{Scale: 2}); err == nil {
		t.Error("10^19 requests are drawn")
	}
}
