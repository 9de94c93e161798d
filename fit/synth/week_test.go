package synth_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/fit"
	"reprise/fit/dist"
	"reprise/fit/synth"
	"reprise/trace"
	"reprise/trace/spec"
)

// brief is a spec with a week profile, a burstier variant and a job.
func brief(t *testing.T) *spec.Spec {
	t.Helper()
	b := &fit.Brief{Mix: "x", Input: fit.Amount{Value: 500}, Output: fit.Amount{Value: 50},
		Jobs: []fit.BriefJob{{Name: "nightly", Requests: fit.Amount{Value: 4000}, Hours: fit.Amount{Value: 2}, Output: fit.Amount{Value: 7, Sigma: 0.01}}}}
	b.Rate.Mean, b.Rate.Peak, b.Rate.BurstyCV = fit.Amount{Value: 3}, fit.Amount{Value: 8}, fit.Amount{Value: 3}
	b.Rate.Hours, b.Rate.Zone = "weekdays 9-18", "UTC"
	sp, err := fit.FromBrief(b, fit.BriefOptions{})
	check(t, err)
	return sp
}

// TestVariant finds the CV of gamma gaps in what is drawn, and the rate: n
// varies with sd CV·√n, five of which are allowed.
func TestVariant(t *testing.T) {
	x, err := synth.Trace(brief(t), synth.Options{Seed: 3, For: time.Hour, Variant: "bursty"})
	check(t, err)
	s, err := fit.Arrivals(fit.Times(x))
	check(t, err)
	if math.Abs(s.Gaps.CV.Value-3) > 0.15 {
		t.Errorf("the gaps have CV %.3f, want 3", s.Gaps.CV.Value)
	}
	if n := float64(s.N); math.Abs(n-8*3600) > 5*3*math.Sqrt(8*3600) {
		t.Errorf("%v requests, want about %v", n, 8*3600)
	}
	if _, err := synth.Trace(brief(t), synth.Options{Variant: "calm"}); err == nil {
		t.Error("an unknown variant is drawn")
	}
}

// TestWeek starts an hour before opening: nothing, then three a second.
func TestWeek(t *testing.T) {
	x, err := synth.Trace(brief(t), synth.Options{Seed: 1, For: 2 * time.Hour, InWeek: true, Hour: 8})
	check(t, err)
	n := float64(len(x.Requests))
	if math.Abs(n-3*3600) > 5*math.Sqrt(3*3600) {
		t.Errorf("%v requests, want about %v", n, 3*3600)
	}
	if c := x.Header.Time; c.Calendar != trace.CalendarHourOfWeek || c.Zero != "Mon 08:00:00.000000" {
		t.Errorf("the clock is %+v", c)
	}
	berlin := brief(t)
	berlin.Workload.Arrivals.Week.Zone = "Europe/Berlin" // 00:00 on a Monday there is a Sunday in UTC
	y, err := synth.Trace(berlin, synth.Options{Seed: 1, For: 12 * time.Hour, InWeek: true})
	check(t, err)
	if c := y.Header.Time; c.Zero != "Sun 23:00:00.000000" {
		t.Errorf("the clock is %+v", c)
	}
	if x.Requests[0].T.V < int64(time.Hour/time.Microsecond) {
		t.Error("a request comes before opening")
	}
	if _, err := synth.Trace(brief(t), synth.Options{For: time.Hour, InWeek: true, Hour: 24 * 6}); err == nil {
		t.Error("a Sunday without traffic is drawn")
	}
}

// TestJob draws exactly the requests of the job, within its window, with its own
// lengths.
func TestJob(t *testing.T) {
	x, err := synth.Trace(brief(t), synth.Options{Seed: 1, Job: "nightly"})
	check(t, err)
	if len(x.Requests) != 4000 || x.Requests[3999].T.V >= int64(2*time.Hour/time.Microsecond) {
		t.Errorf("%d requests, the last at %v µs", len(x.Requests), x.Requests[len(x.Requests)-1].T.V)
	}
	for i := range x.Requests {
		if o := x.Requests[i].Output.V; o < 6 || o > 8 {
			t.Fatalf("the job's request %d has %d output tokens", i, o)
		}
	}
}

// TestScale adds users: three times the requests, the dispersion inside a minute
// a third, since superposing k independent copies divides ρ by k.
func TestScale(t *testing.T) {
	src := public(t, "azure-code")
	sp, err := fit.Fit(src, fit.Options{})
	check(t, err)
	rho := func(o synth.Options) (int, float64) {
		n, sum := 0, 0.0
		const times = 4
		for seed := range uint64(times) {
			o.Seed = seed
			x, err := synth.Trace(sp, o)
			check(t, err)
			s, err := fit.Arrivals(fit.Times(x))
			check(t, err)
			n, sum = len(x.Requests), sum+s.Split[0].Rho.Value/times
		}
		return n, sum
	}
	n1, r1 := rho(synth.Options{})
	n3, r3 := rho(synth.Options{Scale: 3})
	nHalf, rHalf := rho(synth.Options{Scale: 0.5})
	if n3 != 3*n1 || math.Abs(float64(nHalf)-float64(n1)/2) > 1 {
		t.Errorf("%d requests become %d and %d", n1, n3, nHalf)
	}
	if q := r1 / r3; q < 2.2 || q > 4 {
		t.Errorf("the dispersion falls by %.2f, want 3", q)
	}
	if q := r1 / rHalf; q < 0.75 || q > 1.35 {
		t.Errorf("thinning changes the dispersion by %.2f", q)
	}
}

// TestRedraw keeps the mean of the counts and not the counts.
func TestRedraw(t *testing.T) {
	src := public(t, "azure-conv")
	sp, err := fit.Fit(src, fit.Options{})
	check(t, err)
	x, err := synth.Trace(sp, synth.Options{Seed: 9, Redraw: true})
	check(t, err)
	n, want := float64(len(x.Requests)), float64(len(src.Requests))
	if n == want || math.Abs(n-want) > 5*math.Sqrt(want) {
		t.Errorf("%v requests redrawn of %v", n, want)
	}
}

// TestWeekKeepsGusts draws an hour of the week of a log whose minutes differ: so do
// those drawn. With a Poisson count for each minute the index was 1.
func TestWeekKeepsGusts(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 21))
	src := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh,
		Time: trace.Time{Calendar: trace.CalendarHourOfWeek, Zero: "Mon 00:00:00.000000"}}}
	for m := range 30 * 60 {
		rate := 5 * (r.ExpFloat64() + r.ExpFloat64())
		for at := r.ExpFloat64(); at < rate; at += r.ExpFloat64() {
			src.Requests = append(src.Requests, trace.Request{ID: int64(len(src.Requests)), N: 1, Input: trace.Some[int32](100), Output: trace.Some[int32](10),
				T: trace.Some(int64((float64(m) + at/rate) * 60e6))})
		}
	}
	sp, err := fit.Fit(src, fit.Options{})
	check(t, err)
	idc := func(x *trace.Trace, minutes int) float64 {
		counts := make([]float64, minutes)
		for i := range x.Requests {
			if m := int(x.Requests[i].T.V / 60e6); m < minutes {
				counts[m]++
			}
		}
		v := dist.NewValues(counts)
		return v.SD() * v.SD() / v.Mean()
	}
	want := idc(src, 30*60) // 1 + 10/2
	x, err := synth.Trace(sp, synth.Options{Seed: 1, InWeek: true, Hour: 3, For: 20 * time.Hour})
	check(t, err)
	if got := idc(x, 20*60); math.Abs(math.Log(got/want)) > 0.2 {
		t.Errorf("the index of dispersion by the minute is %.2f, the log has %.2f", got, want)
	}
	s, err := synth.Trace(sp, synth.Options{Seed: 1, InWeek: true, Hour: 3, For: 90 * time.Second})
	check(t, err)
	if n := len(s.Requests); s.Requests[n-1].T.V >= 90e6 || !slices.Equal(fit.Times(s), fit.Times(x)[:n]) {
		t.Errorf("90 seconds are not the first of 20 hours: %d requests", n)
	}
}

// TestWeekHeldBack says that a bundle held the calendar back, and of a spec that
// never had hours that it takes a longer log.
func TestWeekHeldBack(t *testing.T) {
	for held, want := range map[string]string{"workload.arrivals.week_profile: no calendar leaves": "--calendar hour_of_week",
		"workload.arrivals.idi": "a log of a day or more"} {
		sp := brief(t)
		sp.Workload.Arrivals.Week, sp.Privacy.HeldBack = nil, []string{held}
		if _, err := synth.Trace(sp, synth.Options{InWeek: true, Hour: 9}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s held back: %v", held, err)
		}
	}
}
