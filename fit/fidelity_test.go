package fit

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"reprise/fit/dist"
)

// TestTableFidelity draws 200000 midpoints from the tables of the eight public
// length variables and reproduces the distances the reference found, which
// checks the grid, the interpolation and the two distances together.
func TestTableFidelity(t *testing.T) {
	raw, err := os.ReadFile(shared(t, "reference", "statistics", "reference.json"))
	check(t, err)
	var ref struct {
		Fidelity map[string]map[string]map[string]json.RawMessage `json:"fidelity_lengths"`
	}
	check(t, json.Unmarshal(raw, &ref))
	e := &equal{t: t}
	for name, vars := range ref.Fidelity {
		s := load(t, name)
		for key, x := range map[string][]int32{"input": s.input, "output": s.output} {
			v := dist.FromInts(x, 1)
			for row, steps := range map[string]int{"quantile table 101+5 tail, linear": 100, "quantile table 51+5 tail, linear": 50} {
				var want map[string]float64
				check(t, json.Unmarshal(vars[key][row], &want))
				syn := midpoints(dist.NewTable(v, dist.Grid(steps)))
				at := name + " " + key + " " + row + " "
				e.near(at+"ks", dist.KSTwo(v, syn), want["ks"], 1e-4)
				e.near(at+"w1", dist.Wasserstein(v, syn)/v.Mean(), want["w1_over_mean"], 1e-4)
				e.offset(at+"mean", syn.Mean()/v.Mean()-1, want["mean_rel"])
				e.offset(at+"sd", sd0(syn)/sd0(v)-1, want["sd_rel"])
				for p, q := range map[string]float64{"p50_rel": 0.5, "p90_rel": 0.9, "p99_rel": 0.99, "p999_rel": 0.999} {
					e.offset(at+p, syn.Quantile(q)/v.Quantile(q)-1, want[p])
				}
				e.near(at+"max", syn.Quantile(1), want["max"], 0)
			}
		}
	}
	if e.n == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("checked %d values, worst relative error %.2g", e.n, e.worst)
}

// sd0 is the standard deviation with n below the line, as numpy has it.
func sd0(v dist.Values) float64 {
	n := float64(v.Len())
	return v.SD() * math.Sqrt((n-1)/n)
}

// offset compares relative deviations, which the reference has to 6 digits.
func (e *equal) offset(name string, have, want float64) {
	e.t.Helper()
	e.n++
	if math.Abs(have-want) > 1e-6 {
		e.t.Errorf("%s is off by %.6g, the reference says %.6g", name, have, want)
	}
}

func midpoints(tab dist.Table) dist.Values {
	const n = 200_000
	x := make([]int32, n)
	for i := range x {
		x[i] = tab.Length((float64(i) + 0.5) / n)
	}
	return dist.FromInts(x, 1)
}
