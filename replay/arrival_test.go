package replay

import (
	"math"
	"testing"
	"time"

	"reprise/trace"
)

func draw(t *testing.T, a Arrivals) []float64 {
	t.Helper()
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	var out []float64
	last := int64(-1)
	for ns := range a.Times() {
		if ns < last {
			t.Fatalf("%d after %d", ns, last)
		}
		last = ns
		out = append(out, float64(ns)/1e9)
	}
	return out
}

func moments(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sd += (x - mean) * (x - mean) / float64(len(v)-1)
	}
	return mean, math.Sqrt(sd)
}

func gapsOf(at []float64) []float64 {
	out := make([]float64, len(at)-1)
	for i := range out {
		out[i] = at[i+1] - at[i]
	}
	return out
}

// dispersion is the variance over the mean of counts in bins of a width.
func dispersion(at []float64, width, length float64) float64 {
	bins := make([]float64, int(length/width))
	for _, x := range at {
		if i := int(x / width); i < len(bins) {
			bins[i]++
		}
	}
	mean, sd := moments(bins)
	return sd * sd / mean
}

// Gaps, their independence, and counts at three scales are those of the
// process. A checker of gaps alone passes generators whose counts are seven
// times too bursty, hence the counts. Bounds are four standard errors.
func TestArrivalStatistics(t *testing.T) {
	const rate, length = 50.0, 4000.0
	for _, cv := range []float64{0.5, 1, 3} {
		process := Gamma
		if cv == 1 {
			process = Poisson
		}
		at := draw(t, Arrivals{Process: process, CV: cv, Rate: Steady(rate, length*time.Second), Seed: 7})
		n := float64(len(at))
		if want, se := rate*length, cv*math.Sqrt(rate*length); math.Abs(n-want) > 4*se {
			t.Errorf("cv %g: %g arrivals, want %g ± %g", cv, n, want, se)
		}
		gaps := gapsOf(at)
		mean, sd := moments(gaps)
		if got := sd / mean; math.Abs(got/cv-1) > 0.04 {
			t.Errorf("cv %g: gaps have %g", cv, got)
		}
		lag := 0.0
		for i := range gaps[1:] {
			lag += (gaps[i] - mean) * (gaps[i+1] - mean) / float64(sd*sd) / n
		}
		if math.Abs(lag) > 4/math.Sqrt(n) {
			t.Errorf("cv %g: gaps have an autocorrelation of %g", cv, lag)
		}
		for _, width := range []float64{1, 10, 40} {
			want := cv * cv // in the limit of wide bins; exact at every width for Poisson
			se := want * math.Sqrt(2/(length/width))
			if got := dispersion(at, width, length); math.Abs(got-want) > 4*se+0.12*want {
				t.Errorf("cv %g: counts per %g s have a dispersion of %g, want %g ± %g", cv, width, got, want, se)
			}
		}
	}
}

// Counts over a time vary as the process has it and are not forced to n over
// the rate; their mean is right from the first second on, bursty or not.
func TestArrivalsAreNotRescaled(t *testing.T) {
	for _, cv := range []float64{0.5, 1, 3} {
		var counts []float64
		for seed := range uint64(3000) {
			counts = append(counts, float64(len(draw(t, Arrivals{Process: Gamma, CV: cv, Rate: Steady(20, 3*time.Second), Seed: seed}))))
		}
		mean, sd := moments(counts)
		if se := sd / math.Sqrt(3000); math.Abs(mean-60) > 4*se {
			t.Errorf("cv %g: %g arrivals on average, want 60 ± %g", cv, mean, se)
		}
		if want := cv * math.Sqrt(60); sd < 0.75*want || sd > 1.35*want {
			t.Errorf("cv %g: counts have a standard deviation of %g, want about %g", cv, sd, want)
		}
	}
}

func TestConstantArrivals(t *testing.T) {
	for _, a := range []Arrivals{{Process: Constant, Rate: Steady(0.2, time.Minute)}, {Process: Gamma, CV: 0, Rate: Steady(0.2, time.Minute)}} {
		at := draw(t, a)
		if len(at) != 12 || at[0] != 0 || at[11] != 55 {
			t.Errorf("%s: %v", a.Process, at)
		}
	}
}

// Rates go by time: a linear ramp from 0 to 20/s in 100 s has t²/10 arrivals
// by t, and steps have each their own.
func TestRamp(t *testing.T) {
	at := draw(t, Arrivals{Process: Constant, Rate: Linear(0, 20, 100*time.Second)})
	if len(at) != 1000 {
		t.Fatalf("%d arrivals, want 1000", len(at))
	}
	for k, x := range at {
		if want := math.Sqrt(float64(k) * 10); math.Abs(x-want) > 1e-6 {
			t.Fatalf("arrival %d at %g, want %g", k, x, want)
		}
	}
	down := draw(t, Arrivals{Process: Constant, Rate: Linear(20, 0, 100*time.Second)})
	for k, x := range down {
		if want := 100 - math.Sqrt((1000-float64(k))*10); math.Abs(x-want) > 1e-6 {
			t.Fatalf("going down, arrival %d at %g, want %g", k, x, want)
		}
	}
	r := Stepped(2, 10, 50*time.Second, 5)
	steps := make([]int, 5)
	for _, x := range draw(t, Arrivals{Process: Constant, Rate: r}) {
		steps[r.step(int64(x*1e9))]++
		if int(x/10) != r.step(int64(x*1e9)) {
			t.Fatalf("%g s is in step %d", x, r.step(int64(x*1e9)))
		}
	}
	for i, n := range steps {
		if n != 20+20*i {
			t.Errorf("step %d has %d arrivals, want %d", i, n, 20+20*i)
		}
	}
	if r.Length() != 50*time.Second || r.Expected() != 300 || Steady(1, 0).Length() != 0 {
		t.Errorf("%v %g", r.Length(), r.Expected())
	}
	// A Poisson process keeps its count in every quarter of a ramp.
	var quarter [4]float64
	for _, x := range draw(t, Arrivals{Process: Poisson, Rate: Linear(0, 200, 100*time.Second), Seed: 3}) {
		quarter[int(x/25)]++
	}
	for i, n := range quarter {
		want := 625 * float64(2*i+1)
		if math.Abs(n-want) > 4*math.Sqrt(want) {
			t.Errorf("quarter %d has %g arrivals, want %g", i, n, want)
		}
	}
}

func TestArrivalsRefused(t *testing.T) {
	ok := Steady(1, time.Second)
	for _, a := range []Arrivals{
		{Process: "uniform", Rate: ok}, {Process: Poisson}, {Process: Poisson, Rate: Steady(-1, 0)}, {Process: Poisson, Rate: Steady(math.NaN(), 0)},
		{Process: Poisson, Rate: Steady(0, 0)}, {Process: Gamma, CV: -1, Rate: ok}, {Process: Gamma, CV: math.Inf(1), Rate: ok},
		{Process: Gamma, CV: math.NaN(), Rate: ok}, {Process: Poisson, Rate: Rate{{0, 1, 1}, {time.Second, 1, 1}}}, {Process: Poisson, Rate: Steady(1e9, 0)},
	} {
		if a.Check() == nil {
			t.Errorf("%+v is taken", a)
		}
	}
}

// untimed makes a trace without times: n requests that all share a first block.
func untimed(n int) *trace.Trace {
	tr := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	for i := range n {
		tr.Requests = append(tr.Requests, trace.Request{ID: int64(i), N: 1, Input: some[int32](32), Output: some[int32](4), Blocks: []int32{0, int32(i + 1)}})
	}
	return tr
}

// Past the last row the trace begins anew: new row numbers, and prefixes that
// are shared within the pass alone.
func TestPasses(t *testing.T) {
	p, err := NewArrivalPlan(untimed(3), Arrivals{Process: Constant, Rate: Steady(7, time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Jobs) != 7 || len(p.Notes) != 1 || p.Mode() != OpenLoop {
		t.Fatalf("%d jobs, %q", len(p.Jobs), p.Notes)
	}
	first := map[int32]int32{}
	for i, j := range p.Jobs {
		if j.Row != int64(i) || j.Sched != int64(float64(i)/7*1e9) {
			t.Errorf("job %d is row %d at %d", i, j.Row, j.Sched)
		}
		d := p.dress(j)
		if b, ok := first[j.Pass]; ok && b != d.Request.Blocks[0] {
			t.Errorf("job %d shares nothing within its pass", i)
		}
		first[j.Pass] = d.Request.Blocks[0]
	}
	if len(first) != 3 || first[0] == first[1] || first[1] == first[2] || first[0] == first[2] {
		t.Errorf("first blocks by pass: %v", first)
	}
	if p.Jobs[0].Request.Blocks[0] != 0 || p.dress(p.Jobs[6]).Request.Blocks[1] <= first[2] {
		t.Error("blocks of the trace were changed")
	}
	p.Keep = true
	if p.dress(p.Jobs[6]).Request.Blocks[0] != 0 {
		t.Error("a deliberately warm pass has prefixes of its own")
	}
	if p, err = NewArrivalPlan(untimed(3), Arrivals{Process: Poisson, Rate: Steady(7, 0)}); err != nil || len(p.Jobs) != 3 {
		t.Errorf("a rate without end sends %d of 3, %v", len(p.Jobs), err)
	}
	if _, err := NewArrivalPlan(untimed(3), Arrivals{Process: Poisson, Rate: Steady(1e6, time.Hour)}); err == nil {
		t.Error("3.6 billion requests are taken")
	}
}

// The parts of a drawn schedule are the schedule: every job is in one part, at
// its instant.
func TestPart(t *testing.T) {
	arrivals := Arrivals{Process: Gamma, CV: 2, Rate: Steady(50, time.Second), Seed: 1}
	whole, err := NewArrivalPlan(untimed(13), arrivals)
	if err != nil {
		t.Fatal(err)
	}
	at := map[int64]int64{}
	for i := range 3 {
		p, err := NewArrivalPlan(untimed(13), arrivals)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Part(Shard{Index: i, Of: 3}); err != nil {
			t.Fatal(err)
		}
		for _, j := range p.Jobs {
			if _, twice := at[j.Row]; twice {
				t.Errorf("row %d is in two parts", j.Row)
			}
			at[j.Row] = j.Sched
		}
	}
	for _, j := range whole.Jobs {
		if got, ok := at[j.Row]; !ok || got != j.Sched {
			t.Errorf("row %d is at %d, want %d", j.Row, got, j.Sched)
		}
	}
	if len(at) != len(whole.Jobs) {
		t.Errorf("%d jobs in parts, %d in all", len(at), len(whole.Jobs))
	}
}
