package dist

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// examples are shapes on both sides of 1 and lengths as they occur.
func examples() []Family {
	return []Family{
		Lognormal{Mu: 6.633313, Sigma: 0.985154},
		Gamma{Shape: 0.397862, Scale: 38519.622},
		Gamma{Shape: 42.5, Scale: 0.01},
		Weibull{Shape: 0.523416, Scale: 9937.6},
		Weibull{Shape: 3.7, Scale: 0.2},
		Exponential{Mean: 129.416666},
	}
}

func TestQuantileInvertsCDF(t *testing.T) {
	for _, f := range examples() {
		for _, p := range []float64{1e-6, 0.01, 0.2, 0.5, 0.9, 0.999, 1 - 1e-9} {
			x := f.Quantile(p)
			if got := f.CDF(x); math.Abs(got-p) > 1e-9 {
				t.Errorf("%s%v: CDF(Quantile(%g)) = %.12g", f.Name(), f.Params(), p, got)
			}
			if s := f.CDF(x) + f.Survival(x); math.Abs(s-1) > 1e-12 {
				t.Errorf("%s: CDF and Survival at %g sum to %g", f.Name(), x, s)
			}
		}
		if f.Quantile(0) > 1e-300 || !math.IsInf(f.Quantile(1), 1) || f.CDF(0) != 0 || f.Survival(-1) != 1 {
			t.Errorf("%s: the ends are wrong: %g %g %g", f.Name(), f.Quantile(0), f.Quantile(1), f.CDF(0))
		}
	}
}

// TestLogL compares with the derivative of CDF, which the families do not use.
func TestLogL(t *testing.T) {
	for _, f := range examples() {
		x := []float64{f.Quantile(0.1), f.Quantile(0.3), f.Quantile(0.3), f.Quantile(0.8)}
		var want float64
		for _, v := range x {
			h := v * 1e-5
			want += math.Log((f.CDF(v+h) - f.CDF(v-h)) / (2 * h))
		}
		if got := f.LogL(NewValues(x)); math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
			t.Errorf("%s%v: LogL %.10g, by differences %.10g", f.Name(), f.Params(), got, want)
		}
	}
}

// TestRandAndFit draws from each family and fits it again: the draws keep to the
// CDF and the estimate is within four standard errors or so.
func TestRandAndFit(t *testing.T) {
	const n = 20000
	for _, f := range examples() {
		r := rand.New(rand.NewPCG(1, 2))
		x := make([]float64, n)
		for i := range x {
			x[i] = f.Rand(r)
		}
		v := NewValues(x)
		if d := KS(v, f.CDF); d > 1.95/math.Sqrt(n) { // 0.1 % point
			t.Errorf("%s%v: %d draws have KS %g", f.Name(), f.Params(), n, d)
		}
		i := slices.IndexFunc(Families(), func(g Fitter) bool { return g.Name == f.Name() })
		got, err := Families()[i].Fit(v)
		if err != nil {
			t.Fatal(err)
		}
		for j, p := range f.Params() {
			if e := math.Abs(got.Params()[j].Value/p.Value - 1); e > 0.05 {
				t.Errorf("%s: %s fitted as %g, drawn with %g", f.Name(), p.Name, got.Params()[j].Value, p.Value)
			}
		}
		if got.LogL(v) < f.LogL(v) {
			t.Errorf("%s: the maximum of the likelihood is below that of the true parameters", f.Name())
		}
	}
}

func TestFitRefuses(t *testing.T) {
	for _, f := range Families() {
		if _, err := f.Fit(Values{}); !errors.Is(err, ErrEmpty) {
			t.Errorf("%s of nothing: %v", f.Name, err)
		}
		if _, err := f.Fit(NewValues([]float64{0, 1, 2})); !errors.Is(err, ErrNotPositive) && f.Name != "negbin" {
			t.Errorf("%s of a zero: %v", f.Name, err)
		}
		_, err := f.Fit(NewValues([]float64{7, 7, 7}))
		if constant := errors.Is(err, ErrConstant); constant == (f.Name == "exponential") {
			t.Errorf("%s of a constant: %v", f.Name, err)
		}
		if _, err := f.Fit(NewValues([]float64{1e-300, 1, 1e300})); err != nil && !errors.Is(err, ErrConstant) {
			t.Errorf("%s of a huge range: %v", f.Name, err)
		}
	}
}

// TestQuantileTypes has the ranks of Hyndman and Fan's type 1, worked by hand.
func TestQuantileTypes(t *testing.T) {
	x := make([]float64, 100)
	for i := range x {
		x[i] = float64(i + 1)
	}
	v := NewValues(x)
	for p, want := range map[float64]float64{0: 1, 0.005: 1, 0.01: 1, 0.0101: 2, 0.07: 7, 0.29: 29, 0.57: 57, 0.58: 58, 0.995: 100, 1: 100} {
		if got := Quantile1(x, p); got != want {
			t.Errorf("Quantile1 at %g is %g, want %g", p, got, want)
		}
		if got := v.Quantile(p); got != want {
			t.Errorf("Values.Quantile at %g is %g, want %g", p, got, want)
		}
	}
	if !math.IsNaN(Quantile1(nil, 0.5)) || !math.IsNaN(Values{}.Quantile(0.5)) {
		t.Error("the quantile of nothing is a number")
	}
}

func TestGrid(t *testing.T) {
	g := Grid(100)
	if len(g) != 106 || len(Grid(50)) != 56 || g[0] != 0 || g[105] != 1 || g[100] != 0.995 || !slices.IsSorted(g) {
		t.Errorf("the grid is %v", g)
	}
}

func TestTable(t *testing.T) {
	tab := Table{P: []float64{0, 0.5, 1}, X: []float64{0, 10, 30}}
	for u, want := range map[float64]int32{0: 1, 0.02: 1, 0.25: 5, 0.5: 10, 0.75: 20, 0.99: 30, 1: 30, 2: 30} {
		if got := tab.Length(u); got != want {
			t.Errorf("length at %g is %d, want %d", u, got, want)
		}
	}
	if !math.IsNaN(Table{}.At(0.5)) {
		t.Error("an empty table has a value")
	}
}

// TestValues checks counted samples against plain slices.
func TestValues(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x, y := make([]int32, 500), make([]int32, 300)
	for i := range x {
		x[i] = r.Int32N(40)
	}
	for i := range y {
		y[i] = r.Int32N(60)
	}
	merged, all := Merge(FromInts(x, 1), FromInts(y, 1)), FromInts(append(slices.Clone(x), y...), 1)
	if !slices.Equal(merged.X, all.X) || !slices.Equal(merged.N, all.N) || merged.Len() != 800 {
		t.Error("merging two samples differs from counting both")
	}
	var zeros int64
	for _, v := range x {
		if v == 0 {
			zeros++
		}
	}
	v := FromInts(x, 1)
	if v.Count(0) != zeros || v.Positive().Len() != 500-zeros || v.Positive().Count(0) != 0 {
		t.Errorf("zeros: counted %d, positive %d", v.Count(0), v.Positive().Len())
	}
	if a := NewValues([]float64{1, math.NaN(), 3}); a.Len() != 2 || a.SD() != math.Sqrt2 || a.Mean() != 2 {
		t.Errorf("mean %g and sd %g of 1 and 3", a.Mean(), a.SD())
	}
}

func TestDistances(t *testing.T) {
	a, b := NewValues([]float64{0, 1, 3}), NewValues([]float64{5, 6, 8})
	// The worked example of scipy.stats.wasserstein_distance.
	if got := Wasserstein(a, b); got != 5 {
		t.Errorf("Wasserstein %g, want 5", got)
	}
	if KSTwo(a, b) != 1 || KSTwo(a, a) != 0 || Wasserstein(b, b) != 0 {
		t.Error("two samples apart, or the same one, are measured wrong")
	}
	if !math.IsNaN(KSTwo(a, Values{})) || !math.IsNaN(Wasserstein(Values{}, a)) || !math.IsNaN(KS(Values{}, nil)) {
		t.Error("the distance from nothing is a number")
	}
}

func BenchmarkFit(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]int32, 1_000_000)
	f := Lognormal{Mu: 7, Sigma: 1.3}
	for i := range x {
		x[i] = int32(f.Rand(r)) + 1
	}
	for b.Loop() {
		v := FromInts(x, 1)
		for _, fit := range Families() {
			fam, err := fit.Fit(v)
			if err != nil {
				b.Fatal(err)
			}
			KS(v, fam.CDF)
		}
	}
}
