package fit

import (
	"math"
	"strconv"
	"testing"
)

// extras checks the split dispersion and the Poisson baseline of peaks, which
// the reference keeps apart and with eight digits.
func extras(t *testing.T, ref map[string]map[string]any) (c tally) {
	for key, name := range map[string]string{"conv": "azure2023_conv", "code": "azure2023_code",
		"mooncake_conversation_to_15s": "mooncake_conversation", "mooncake_synthetic(poisson truth)": "mooncake_synthetic"} {
		t.Run("split_rho/"+name, func(t *testing.T) {
			s := load(t, name)
			steps := SplitRho(s.times, SplitChain(), Resolution{})
			for i, want := range ref["split_rho_60s"][key].([]any) {
				w := want.(map[string]any)
				g := steps[i]
				if seconds(g.ParentUS) != w["parent_s"] || seconds(g.ChildUS) != w["child_s"] || float64(g.M) != w["m"] || float64(g.Pairs) != w["pairs"] {
					t.Errorf("step %d is %+v, the reference says %v", i, g, w)
				}
				c.checked, c.exact = c.checked+4, c.exact+4
				c.near(t, "split_rho_60s/"+key+"/"+strconv.Itoa(i), g.Rho.Value, w["rho"].(float64), 1e-7)
			}
		})
	}
	t.Run("null_sd", func(t *testing.T) {
		s := load(t, "azure2023_conv")
		steps := SplitRho(s.times, SplitChain(), Resolution{})
		for i, sd := range ref["split_rho_60s"]["poisson_null_sd_conv"].(map[string]any)["sd"].([]any) {
			// The reference simulated it; 200 runs know a sd to about 5 %.
			if e := relative(steps[i].NullSD.Value, sd.(float64)); e > 0.2 {
				t.Errorf("step %d has a null sd of %g, simulation says %v", i, steps[i].NullSD.Value, sd)
			}
		}
	})
	c.baseline(t, ref["poisson_p2m_baseline"])
	return c
}

func (c *tally) near(t *testing.T, where string, have, want, limit float64) {
	t.Helper()
	c.checked++
	e := relative(have, want)
	if have == want {
		c.exact++
	}
	if e > limit {
		t.Errorf("%s = %.10g, the reference says %.10g", where, have, want)
	}
}

// baseline compares exact quantiles with simulated ones.
func (c *tally) baseline(t *testing.T, ref map[string]any) {
	for key, name := range map[string]string{"conv": "azure2023_conv", "code": "azure2023_code", "mooncake_conversation": "mooncake_conversation"} {
		s := load(t, name)
		for w, want := range ref[key].(map[string]any) {
			sec, _ := strconv.ParseInt(w, 10, 64)
			b, _ := Bins(s.times, sec*second)
			c.peaks(t, name+" "+w+" s", b.Poisson, b.K, b.Mean, want.(map[string]any))
		}
	}
	for key, km := range map[string][2]float64{"rate1_bins1s_24h": {86400, 1}, "rate1_bins60s_24h": {1440, 60},
		"rate10_bins1s_24h": {86400, 10}, "rate10_bins60s_24h": {1440, 600}, "rate100_bins1s_24h": {86400, 100}} {
		want := ref["examples"].(map[string]any)[key].(map[string]any)
		c.peaks(t, key, PoissonPeakToMean(int64(km[0]), km[1]), int64(km[0]), km[1], want)
	}
}

func (c *tally) peaks(t *testing.T, where string, got PoissonPeak, k int64, m float64, want map[string]any) {
	for p, have := range map[string]float64{"p5": got.P5, "p50": got.P50, "p95": got.P95} {
		w := want[p].(float64)
		// A step between two counts is 1/m; the simulated quantile may be the
		// neighbour where F(k)^K is within the noise of the probability.
		c.checked++
		switch steps := math.Abs(have-w) * m; {
		case steps > 1.01:
			t.Errorf("%s %s = %.6g, simulation says %.6g (K %d, mean %g)", where, p, have, w, k, m)
		case steps > 0.01:
			t.Logf("%s %s: exact %.6g, simulated %.6g, a neighbouring count", where, p, have, w)
		}
	}
}
