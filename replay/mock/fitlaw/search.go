package fitlaw

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/optimize"

	"reprise/replay/mock/engine"
	"reprise/replay/mock/simulate"
)

// check simulates a load under a law and compares it with what was measured.
func check(law engine.Law, in []simulate.Timed, obs []Observation, seed uint64) (Check, error) {
	out, err := simulate.Run(law, seed, in)
	if err != nil {
		return Check{}, err
	}
	c := Check{Measured: Measured(obs), Predicted: simulate.Sum(in, out)}
	m, p := &c.Measured, &c.Predicted
	c.TTFTP50, c.TTFTP90 = p.TTFT.P50/m.TTFT.P50-1, p.TTFT.P90/m.TTFT.P90-1
	if m.TPOT.P50 > 0 && m.TPOT.P90 > 0 {
		c.TPOTP50, c.TPOTP90 = p.TPOT.P50/m.TPOT.P50-1, p.TPOT.P90/m.TPOT.P90-1
	}
	var ttft, tpot []float64
	for k := range obs {
		o := simulate.Outcome{TTFT: obs[k].TTFT, E2E: obs[k].E2E, Tokens: obs[k].Out}
		if out[k].Finish == engine.Going {
			return c, fmt.Errorf("law %q: a measured request of %d and %d tokens does not fit it", law.Name, obs[k].Prompt, obs[k].Out)
		}
		ttft = append(ttft, apart(float64(out[k].TTFT), float64(o.TTFT)))
		if a := o.TPOT(); a > 0 && !obs[k].whole() {
			tpot = append(tpot, apart(float64(out[k].TPOT()), float64(a)))
		}
	}
	c.Loss = mean(ttft) + mean(tpot)
	for _, q := range [][2]float64{{p.TTFT.P50, m.TTFT.P50}, {p.TTFT.P90, m.TTFT.P90}, {p.TPOT.P50, m.TPOT.P50}, {p.TPOT.P90, m.TPOT.P90}} {
		c.Loss += apart(q[0], q[1])
	}
	slices.Sort(ttft)
	slices.Sort(tpot)
	c.TTFTEach, c.TPOTEach = simulate.Quantile(ttft, 0.5), simulate.Quantile(tpot, 0.5)
	return c, nil
}

// apart is |log(a/b)|, at most 3.
func apart(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return min(math.Abs(math.Log(max(a, 1e-3)/b)), 3)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(1, len(v)))
}

// ingress is what TTFT lacks at the median when requests could be scheduled at
// once, µs.
func ingress(law engine.Law, in []simulate.Timed, obs []Observation, seed uint64) float64 {
	law.IngressUS = 0
	out, err := simulate.Run(law, seed, in)
	if err != nil {
		return 0
	}
	v := make([]float64, len(obs))
	for k := range obs {
		v[k] = float64(obs[k].TTFT-out[k].TTFT) / 1e3
	}
	slices.Sort(v)
	return min(max(simulate.Quantile(v, 0.5), 0), engine.MaxUS)
}

// places is the size of the batch: the most streams seen at once, when the run
// is told clearly better by that than without a limit.
func places(law engine.Law, in []simulate.Timed, obs []Observation, most int, seed uint64) int {
	tight := law
	tight.MaxSeqs = max(1, most)
	a, errA := check(law, in, obs, seed)
	b, errB := check(tight, in, obs, seed)
	if errA == nil && errB == nil && b.Loss < 0.95*a.Loss {
		return tight.MaxSeqs
	}
	return law.MaxSeqs
}

// figures are the searched figures of a law.
func figures(l *engine.Law) []*float64 {
	return []*float64{&l.BaseUS, &l.DecodeUS, &l.KVTokenUS, &l.PrefillUS, &l.IngressUS, &l.JitterSigma}
}

// leasts are where the search takes each figure for nothing.
func leasts() []float64 { return []float64{1, 0.1, 1e-5, 0.01, 1, 1e-3} }

// search improves a law by Nelder and Mead's method (1965) on the logs of its
// figures, simulating the run each time with the same seed.
func search(law engine.Law, in []simulate.Timed, obs []Observation, seed uint64) engine.Law {
	least := leasts()
	at := func(x []float64) engine.Law {
		l := law
		for i, p := range figures(&l) {
			*p = math.Exp(x[i])
			if *p <= least[i]*1.001 && i > 0 {
				*p = 0
			}
		}
		l.JitterSigma = min(l.JitterSigma, 1.5)
		return l
	}
	var from []float64
	loss := func(x []float64) float64 {
		for i := range x {
			if math.Abs(x[i]) > 18 || x[i] < math.Log(least[i]) {
				return 100
			}
		}
		c, err := check(at(x), in, obs, seed)
		if err != nil {
			return 100
		}
		// What the run does not show stays where the regression left it.
		return c.Loss + penalty(x, from)
	}
	x := make([]float64, len(least))
	for i, p := range figures(&law) {
		x[i] = math.Log(max(*p, 2*least[i]))
	}
	from = slices.Clone(x)
	for range 2 { // a second simplex where the first has shrunk
		res, err := optimize.Minimize(optimize.Problem{Func: loss}, x,
			&optimize.Settings{FuncEvaluations: budget(in), Converger: &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 60}},
			&optimize.NelderMead{SimplexSize: 0.4})
		if res == nil || err != nil && res.F >= loss(x) {
			break
		}
		x = res.X
	}
	return at(x)
}

// penalty is 0.05 for a figure e times what the regression found, and grows as
// the square of the log.
func penalty(x, from []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += (x[i] - from[i]) * (x[i] - from[i])
	}
	return 0.05 * sum
}

// budget is how many simulations a simplex may take: fewer of long runs.
func budget(in []simulate.Timed) int {
	tokens := 0
	for k := range in {
		tokens += int(in[k].MaxTokens)
	}
	return min(max(40_000_000/max(tokens, 1), 60), 600)
}

// sixDigits leaves six significant digits, so that a law is one to write down.
func sixDigits(l engine.Law) engine.Law {
	for _, p := range figures(&l) {
		if v, err := strconv.ParseFloat(strconv.FormatFloat(*p, 'g', 6, 64), 64); err == nil {
			*p = v
		}
	}
	return l
}
