package fit

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"reprise/fit/dist"
)

// TestMixtures holds the lognormal mixtures and the tail of the four public
// traces to the reference: the same start gives the same parameters to 1e-4, the
// tail a log likelihood within 0.05.
func TestMixtures(t *testing.T) {
	raw, err := os.ReadFile(shared(t, "reference", "statistics", "reference.json"))
	check(t, err)
	type mixture struct {
		Params struct{ W, Mu, Sigma []float64 }
		LogL   float64
		KS     float64
	}
	var ref struct {
		Datasets map[string]map[string]json.RawMessage
	}
	check(t, json.Unmarshal(raw, &ref))
	for _, name := range []string{"azure2023_code", "azure2023_conv", "mooncake_conversation", "mooncake_synthetic"} {
		s := load(t, name)
		for key, x := range map[string][]int32{"input_fit": s.input, "output_fit": s.output} {
			var fits map[string]json.RawMessage
			check(t, json.Unmarshal(ref.Datasets[name][key], &fits))
			v := dist.FromInts(x, 1)
			for k := 2; k <= 3; k++ {
				var want mixture
				check(t, json.Unmarshal(fits[fmt.Sprintf("lnmix%d", k)], &want))
				f, err := dist.FitLognormalMixture(v, k)
				check(t, err)
				if d := math.Abs(f.LogL(v) - want.LogL); d > 0.02 {
					t.Errorf("%s %s: %s has log likelihood %.4f, the reference %.4f", name, key, f.Name(), f.LogL(v), want.LogL)
				}
				for j := range k {
					for _, p := range [][2]float64{{f.Weight[j], want.Params.W[j]}, {f.Part[j].Mu, want.Params.Mu[j]}, {f.Part[j].Sigma, want.Params.Sigma[j]}} {
						if math.Abs(p[0]-p[1]) > 1e-3*max(p[1], 0.1) {
							t.Errorf("%s %s %s: component %d has %.6g, the reference %.6g", name, key, f.Name(), j, p[0], p[1])
						}
					}
				}
			}
			var tail struct{ Threshold, Xi, Scale, LogL float64 }
			check(t, json.Unmarshal(fits["gpd_tail_p95"], &tail))
			g, err := dist.FitGPD(v)
			if CapShare(v) > minCap || err != nil {
				continue // a tail with a cap, or of 199 values, is not told
			}
			if g.Threshold != tail.Threshold || math.Abs(g.LogL(v)-tail.LogL) > 0.05 || math.Abs(g.Xi-tail.Xi) > 0.01 {
				t.Errorf("%s %s: tail %+v with log likelihood %.4f, the reference %+v", name, key, g, g.LogL(v), tail)
			}
		}
	}
}

// TestCensored finds the parameters behind values that a cap of 200 cut, which
// the naive estimate misses.
func TestCensored(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, truth := range []dist.Family{dist.Lognormal{Mu: 5, Sigma: 0.8}, dist.Gamma{Shape: 2, Scale: 90}, dist.Weibull{Shape: 1.3, Scale: 200}, dist.Exponential{Mean: 180}} {
		var whole, cut []float64
		for range 20_000 {
			if x := truth.Rand(rng); x > 200 {
				cut = append(cut, 200)
			} else {
				whole = append(whole, x)
			}
		}
		f, err := dist.FitCensored(truth.Name(), dist.NewValues(whole), dist.NewValues(cut))
		check(t, err)
		for i, p := range f.Params() {
			if want := truth.Params()[i].Value; math.Abs(p.Value-want) > 0.04*want {
				t.Errorf("%s: %s is %.4f, want %.4f", truth.Name(), p.Name, p.Value, want)
			}
		}
	}
	if _, err := dist.FitCensored("pareto1", dist.Repeat(3, 5), dist.Values{}); err == nil {
		t.Error("a family without a censored estimate is fitted")
	}
}

// TestRescaleNull finds Poisson arrivals of a drifting rate within the null, and
// on-off arrivals far outside it.
func TestRescaleNull(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var smooth, bursty []int64
	for m := range int64(30) {
		for range 60 + 4*m {
			smooth = append(smooth, m*60*second+rng.Int64N(60*second))
			bursty = append(bursty, m*60*second+rng.Int64N(6*second))
		}
	}
	for _, c := range []struct {
		times   []int64
		poisson bool
	}{{smooth, true}, {bursty, false}} {
		times := slices.Sorted(slices.Values(c.times))
		s := Rescale(times, 60*second)
		s.Simulate(times, 60*second, rng)
		if got := s.KS.Value <= 1.2*s.Null95.Value; got != c.poisson {
			t.Errorf("Poisson inside the minute: %v, but KS %.4f against a null of %.4f", c.poisson, s.KS.Value, s.Null95.Value)
		}
	}
}

// TestHalvesDrift is the drift of the log's halves as published: KS .082 and mean
// ratios .87 and .90 for Azure's conversations.
func TestHalvesDrift(t *testing.T) {
	s := load(t, "azure2023_conv")
	d := drift(s.input, s.output, "measured")
	if math.Abs(float64(d.InputKS)-0.082) > 0.0015 || math.Abs(float64(d.OutputKS)-0.082) > 0.0015 {
		t.Errorf("KS of halves %v and %v, published .082", d.InputKS, d.OutputKS)
	}
	if math.Abs(float64(d.InputRatio)-0.87) > 0.006 || math.Abs(float64(d.OutputRatio)-0.90) > 0.006 {
		t.Errorf("ratios %v and %v, published .87 and .90", d.InputRatio, d.OutputRatio)
	}
	dep := dependence(s.input, s.output, "measured")
	if math.Abs(float64(dep.TV)-0.45) > 0.006 || math.Abs(float64(dep.Noise)-0.02) > 0.01 {
		t.Errorf("total variation %v with noise %v, published .45 and .02", dep.TV, dep.Noise)
	}
}
