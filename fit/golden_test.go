package fit

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"reprise/fit/dist"
)

// golden is golden_small.json: vectors of 12 and 16 elements with answers by
// scipy.
type golden struct {
	X, Y, T []float64
	Fits    map[string]struct {
		Params   map[string]float64
		LogL     float64 `json:"logL"`
		LogLDisc float64 `json:"logL_disc"`
		KS       float64 `json:"ks"`
		KSDisc   float64 `json:"ks_disc"`
		BIC      float64 `json:"bic"`
	} `json:"fits_x"`
	Quantiles  map[string]map[string]float64 `json:"quantiles_x"`
	Dependence map[string]float64            `json:"dependence_xy"`
	KSTwo      float64                       `json:"ks_2samp_xy"`
	W1         float64                       `json:"wasserstein_xy"`
	IAT        map[string]float64            `json:"iat"`
	Bins       map[string]struct {
		Counts []int64 `json:"counts_complete"`
		IDC    float64 `json:"idc"`
		P2M    float64 `json:"p2m"`
	} `json:"bins"`
	Split struct {
		Rho []float64 `json:"rho"`
	} `json:"split_rho_m"`
	Prefix struct {
		Block    int `json:"block"`
		Requests []struct {
			L   int32   `json:"L"`
			IDs []int32 `json:"ids"`
		} `json:"requests"`
		HitBlocks  []int32 `json:"hit_blocks"`
		HitTokens  []int32 `json:"hit_tokens"`
		RateBlocks float64 `json:"rate_blocks"`
		RateTokens float64 `json:"rate_tokens"`
	} `json:"prefix"`
}

func readGolden(t *testing.T) (g golden) {
	raw, err := os.ReadFile(shared(t, "reference", "statistics", "golden_small.json"))
	check(t, err)
	check(t, json.Unmarshal(raw, &g))
	return g
}

// equal fails beyond a relative error and counts what it checked.
type equal struct {
	t     *testing.T
	n     int
	worst float64
}

func (e *equal) near(name string, have, want, limit float64) {
	e.t.Helper()
	e.n++
	r := relative(have, want)
	e.worst = max(e.worst, r)
	if r > limit {
		e.t.Errorf("%s = %.12g, want %.12g", name, have, want)
	}
}

func TestGoldenLengths(t *testing.T) {
	g := readGolden(t)
	e := &equal{t: t}
	v := dist.NewValues(g.X)
	fits, _ := FitFamilies(v)
	known := 0
	for _, f := range fits {
		want, ok := g.Fits[f.Family.Name()]
		if !ok {
			continue // the reference has four families of this sample
		}
		known++
		if f.Family.Name() == "negbin" || strings.HasPrefix(f.Family.Name(), "lnmix") {
			continue // fitted by search: held to the reference on the public traces
		}
		for _, p := range f.Family.Params() {
			e.near(f.Family.Name()+" "+p.Name, p.Value, want.Params[p.Name], 1e-9)
		}
		e.near("logL", f.LogL, want.LogL, 1e-9)
		e.near("logL_disc", f.LogLDiscrete, want.LogLDisc, 1e-9)
		e.near("ks", f.KS, want.KS, 1e-9)
		e.near("ks_disc", dist.KSDiscrete(v, f.Family.CDF), want.KSDisc, 1e-9)
		e.near("bic", f.BIC, want.BIC, 1e-9)
	}
	if known != 6 {
		t.Fatalf("%d families of the reference were fitted, want 6", known)
	}
	for p, want := range g.Quantiles {
		var q float64
		fmt.Sscan(p, &q)
		e.near("p"+p, v.Quantile(q), want["type1"], 0)
	}
	y := dist.NewValues(g.Y)
	e.near("ks_2samp", dist.KSTwo(v, y), g.KSTwo, 1e-9)
	e.near("wasserstein", dist.Wasserstein(v, y), g.W1, 1e-9)
	e.near("pearson", Pearson(ints(g.X), ints(g.Y)).Value, g.Dependence["pearson"], 1e-9)
	e.near("spearman", Spearman(ints(g.X), ints(g.Y)).Value, g.Dependence["spearman"], 1e-9)
	t.Logf("checked %d values, worst relative error %.2g", e.n, e.worst)
}

func ints(x []float64) []int32 {
	out := make([]int32, len(x))
	for i, f := range x {
		out[i] = int32(f)
	}
	return out
}

func TestGoldenArrivals(t *testing.T) {
	g := readGolden(t)
	e := &equal{t: t}
	var times []int64
	for _, s := range g.T {
		times = append(times, int64(s*second+0.5))
	}
	d := DescribeGaps(Gaps(times))
	e.near("mean", d.Mean, g.IAT["mean"], 1e-9)
	e.near("cv", d.CV.Value, g.IAT["cv_ddof1"], 1e-9)
	e.near("zeros", d.ZeroShare, g.IAT["zero_fraction"], 1e-9)
	e.near("gamma mle", d.MLE.Value, g.IAT["gamma_shape_mle_pos"], 1e-9)
	w, err := dist.FitWeibull(dist.FromInts(Gaps(times), second).Positive())
	check(t, err)
	e.near("weibull mle", w.Shape, g.IAT["weibull_shape_mle_pos"], 1e-9)
	for sec, want := range g.Bins {
		var n int64
		fmt.Sscan(sec, &n)
		b, ok := Bins(times, n*second)
		if !ok {
			t.Fatalf("no bins of %d s", n)
		}
		counts, err := Series(times, times[0], n*second)
		check(t, err)
		e.near("K", float64(b.K), float64(len(want.Counts)), 0)
		for i, c := range want.Counts {
			e.near("count", float64(counts[i]), float64(c), 0)
		}
		e.near("idc", b.IDC.Value, want.IDC, 1e-9)
		e.near("p2m", b.PeakToMean.Value, want.P2M, 1e-9)
	}
	chain := []int64{10 * second, 5 * second, second}
	for i, s := range SplitRho(times, chain, Resolution{}) {
		e.near("rho", s.Rho.Value, g.Split.Rho[i], 1e-9)
	}
	t.Logf("checked %d values, worst relative error %.2g", e.n, e.worst)
}

func TestGoldenPrefix(t *testing.T) {
	g := readGolden(t)
	e := &equal{t: t}
	var blocks [][]int32
	var input []int32
	for _, r := range g.Prefix.Requests {
		blocks, input = append(blocks, r.IDs), append(input, r.L)
	}
	p, err := Prefix(blocks, input, g.Prefix.Block)
	check(t, err)
	for i, h := range p.Hits {
		e.near("hit blocks", float64(h), float64(g.Prefix.HitBlocks[i]), 0)
		e.near("hit tokens", float64(min(h*int32(g.Prefix.Block), input[i])), float64(g.Prefix.HitTokens[i]), 0)
	}
	e.near("blocks", ratio(p.HitBlocks, p.TotalBlocks).Value, g.Prefix.RateBlocks, 1e-9)
	e.near("tokens", ratio(p.HitTokens, p.InputTokens).Value, g.Prefix.RateTokens, 1e-9)
	t.Logf("checked %d values, worst relative error %.2g", e.n, e.worst)
}
