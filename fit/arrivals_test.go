package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// poisson draws n arrivals at rate per second, stamped in whole steps.
func poisson(r *rand.Rand, n int, rate float64, step int64) []int64 {
	out := make([]int64, n)
	var t float64
	for i := range out {
		t += r.ExpFloat64() / rate * second
		out[i] = int64(t) / step * step
	}
	return out
}

func TestDetectResolution(t *testing.T) {
	conv, code := load(t, "azure2023_conv").times, load(t, "azure2023_code").times
	floor := func(times []int64, step int64) []int64 {
		out := slices.Clone(times)
		for i := range out {
			out[i] = out[i] / step * step
		}
		return out
	}
	stray := floor(conv, second)
	stray[7] += 1234 // one row with more digits than the rest
	r := rand.New(rand.NewPCG(2, 2))
	for name, c := range map[string]struct {
		times []int64
		want  Resolution
	}{
		"azure conv":           {conv, Resolution{StepUS: 1}},
		"azure code":           {code, Resolution{StepUS: 1}},
		"conv at 1 ms":         {floor(conv, 1000), Resolution{StepUS: 1000}},
		"conv at 0.1 s":        {floor(conv, 100_000), Resolution{StepUS: 100_000}},
		"code at 1 s":          {floor(code, second), Resolution{StepUS: second}},
		"conv at 1 s, stray":   {stray, Resolution{StepUS: second}},
		"mooncake":             {load(t, "mooncake_conversation").times, Resolution{StepUS: 3 * second, Batched: true}},
		"mooncake synthetic":   {load(t, "mooncake_synthetic").times, Resolution{StepUS: 1000}},
		"poisson, exact":       {poisson(r, 5000, 20, 1), Resolution{StepUS: 1}},
		"poisson, many ties":   {poisson(r, 5000, 200, 1000), Resolution{StepUS: 1000}},
		"one arrival":          {[]int64{5}, Resolution{}},
		"all at the same time": {[]int64{5, 5, 5}, Resolution{}},
	} {
		if got := DetectResolution(Gaps(c.times)); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestCoarseClock holds back what a logger that flushes every 3 s cannot show.
func TestCoarseClock(t *testing.T) {
	s, err := Arrivals(load(t, "mooncake_conversation").times)
	check(t, err)
	for name, st := range map[string]Stat{"cv": s.Gaps.CV, "moments": s.Gaps.Moments, "mle": s.Gaps.MLE,
		"local cv": s.Local.CVMedian, "p2m 1 s": s.Bins[0].PeakToMean, "idc 5 s": s.Bins[2].IDC, "rho at 5 s": s.Split[2].Rho} {
		if st.OK() || !strings.Contains(st.Why, "3 s") {
			t.Errorf("%s is %+v, want it absent for time stamps at 3 s", name, st)
		}
	}
	for name, st := range map[string]Stat{"idc 10 s": s.Bins[3].IDC, "p2m 60 s": s.Bins[5].PeakToMean, "rho at 15 s": s.Split[1].Rho} {
		if !st.OK() {
			t.Errorf("%s is absent: %s", name, st.Why)
		}
	}
	if s.Slots == nil || relative(s.Slots.IDC.Value, 1.100739897) > 1e-9 {
		t.Errorf("slots %+v, want an IDC of 1.1007", s.Slots)
	}
	fine, err := Arrivals(load(t, "azure2023_conv").times)
	check(t, err)
	if !fine.Gaps.CV.OK() || !fine.Gaps.MLE.OK() || !fine.Local.MLEMedian.OK() || !fine.Split[9].Rho.OK() || fine.Slots != nil {
		t.Errorf("a clock of 1 µs holds something back: %+v", fine.Gaps)
	}
	if !fine.PeakHour.Whole || fine.PeakHour.N != fine.N {
		t.Errorf("the trace is shorter than an hour, its peak hour is %+v", fine.PeakHour)
	}
}

// TestPeakWindow compares with every window tried in turn.
func TestPeakWindow(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		times := poisson(r, 1+r.IntN(200), 0.5, 1)
		for i := range times {
			times[i] += 7 * second
		}
		width, stride := int64(1+r.IntN(40))*second, int64(1+r.IntN(9))*second
		got := PeakWindow(times, width, stride)
		first, end := times[0]/stride*stride, times[len(times)-1]/stride*stride+stride
		if end-first <= width {
			if !got.Whole || got.N != int64(len(times)) {
				t.Errorf("seed %d: %+v of a trace no longer than the window", seed, got)
			}
			continue
		}
		var want Window
		for s := first; s+width <= end; s += stride {
			var n int64
			for _, x := range times {
				if x >= s && x < s+width {
					n++
				}
			}
			if n > want.N {
				want = Window{FromUS: s, ToUS: s + width, N: n, Rate: float64(n) / seconds(width)}
			}
		}
		if got != want {
			t.Errorf("seed %d: width %d, stride %d: %+v, want %+v", seed, width, stride, got, want)
		}
	}
}

// TestSplitRhoExtremes: all arrivals of a parent in one child is 1; a Poisson
// process stays within a few null standard deviations of 0.
func TestSplitRhoExtremes(t *testing.T) {
	var clumped []int64
	for m := range int64(20) {
		for i := range int64(5) {
			clumped = append(clumped, m*60*second+i)
		}
	}
	clumped = append(clumped, 20*60*second)
	for _, s := range SplitRho(clumped, SplitChain(), Resolution{}) {
		if s.Rho.Value != 1 {
			t.Errorf("clumps have ρ %+v, want 1", s)
		}
	}
	for _, s := range SplitRho(poisson(rand.New(rand.NewPCG(5, 5)), 50_000, 6, 1), SplitChain(), Resolution{}) {
		if math.Abs(s.Rho.Value) > 4*s.NullSD.Value {
			t.Errorf("a Poisson process has ρ %+v", s)
		}
	}
}

func TestArrivalsRefuses(t *testing.T) {
	if _, err := Arrivals(nil); err == nil {
		t.Error("no times are described")
	}
	if _, err := Arrivals([]int64{3, 1}); err == nil {
		t.Error("times that fall are described")
	}
	if _, err := Arrivals([]int64{0, math.MaxInt64 / 2}); err == nil {
		t.Error("146000 years are described")
	}
	for _, times := range [][]int64{{0}, {4, 4}, {0, 1}, {0, 60 * second}, {0, maxSpan}} {
		s, err := Arrivals(times)
		check(t, err)
		if s.N != int64(len(times)) || s.Gaps.MLE.OK() {
			t.Errorf("%v: %+v", times, s)
		}
	}
	if _, err := Series([]int64{5}, 6, second); err == nil {
		t.Error("a series starts after its first arrival")
	}
	if _, err := Series([]int64{0, math.MaxInt64}, 0, second); err == nil {
		t.Error("a series of 300000 years is made")
	}
}

func BenchmarkArrivals(b *testing.B) {
	times := poisson(rand.New(rand.NewPCG(1, 1)), 1_000_000, 12, 1)
	for b.Loop() {
		if _, err := Arrivals(times); err != nil {
			b.Fatal(err)
		}
	}
}
