package synth_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reprise/fit"
	"reprise/fit/dist"
	"reprise/fit/synth"
	"reprise/trace"
	"reprise/trace/spec"
)

const seeds = 5

// capacities of the cache curve, in tokens.
var capacities = []int64{300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000}

// column holds the metrics of one trace by name.
type column map[string]float64

// measure describes a trace as the table of fidelity does; src is the trace
// that distances are measured to.
func measure(t testing.TB, src, x *trace.Trace, grid *rankGrid) column {
	c := column{"n": float64(len(x.Requests))}
	in, out := lengthsOf(x)
	srcIn, srcOut := lengthsOf(src)
	for _, v := range []struct {
		key      string
		src, syn []int32
	}{{"input", srcIn, in}, {"output", srcOut, out}} {
		a, b := dist.FromInts(v.src, 1), dist.FromInts(v.syn, 1)
		c[v.key+" KS"] = dist.KSTwo(a, b)
		c[v.key+" W1/mean"] = dist.Wasserstein(a, b) / a.Mean()
		c[v.key+" mean"] = b.Mean()
		for _, p := range []float64{0.5, 0.95, 0.99} {
			c[fmt.Sprintf("%s p%g", v.key, 100*p)] = b.Quantile(p)
		}
	}
	c["joint TV10"] = grid.distance(in, out)
	s, err := fit.Arrivals(fit.Times(x))
	check(t, err)
	for _, b := range s.Bins {
		if w := b.WidthUS / 1e6; w == 1 || w == 10 || w == 60 {
			if b.PeakToMean.OK() {
				c[fmt.Sprintf("P(%d s)", w)] = b.PeakToMean.Value
			}
			if b.IDC.OK() {
				c[fmt.Sprintf("IDC(%d s)", w)] = b.IDC.Value
			}
		}
	}
	if s.Local.CVMedian.OK() {
		c["local CV"] = s.Local.CVMedian.Value
	}
	prefixColumn(t, x, in, c)
	return c
}

func prefixColumn(t testing.TB, x *trace.Trace, in []int32, c column) {
	blocks := make([][]int32, len(x.Requests))
	total := 0
	for i := range x.Requests {
		blocks[i] = x.Requests[i].Blocks
		total += len(blocks[i])
	}
	if total == 0 {
		return
	}
	p, err := fit.Prefix(blocks, in, x.Header.BlockTokens)
	check(t, err)
	c["hit inf"] = float64(p.HitTokens) / float64(p.InputTokens)
	c["hit inf full"] = float64(p.FullHitBlocks) / float64(p.FullBlocks)
	c["hit requests"] = p.AnyHit.Value
	r, err := fit.StackDistances(blocks, in, x.Header.BlockTokens)
	check(t, err)
	for _, point := range r.LRUCurve(capacities) {
		c[fmt.Sprintf("hit %.1f M", float64(point.CapacityTokens)/1e6)] = point.Tokens.Value
	}
}

func lengthsOf(x *trace.Trace) (in, out []int32) {
	for i := range x.Requests {
		in, out = append(in, x.Requests[i].Input.V), append(out, x.Requests[i].Output.V)
	}
	return in, out
}

// rankGrid is the 10 by 10 grid of the ranks of input and output, ties broken
// at random by a fixed seed.
type rankGrid struct{ share [10][10]float64 }

func newRankGrid(in, out []int32) *rankGrid {
	rng := rand.New(rand.NewPCG(99, 99))
	a, b := deciles(in, rng), deciles(out, rng)
	var g rankGrid
	for i := range a {
		g.share[a[i]][b[i]] += 1 / float64(len(a))
	}
	return &g
}

func deciles(x []int32, rng *rand.Rand) []int {
	order := rng.Perm(len(x))
	slices.SortStableFunc(order, func(i, j int) int { return int(x[i]) - int(x[j]) })
	out := make([]int, len(x))
	for rank, i := range order {
		out[i] = rank * 10 / len(x)
	}
	return out
}

// distance is the total variation between the grid and that of a sample.
func (g *rankGrid) distance(in, out []int32) float64 {
	h := newRankGrid(in, out)
	var sum float64
	for i := range g.share {
		for j := range g.share[i] {
			sum += math.Abs(g.share[i][j] - h.share[i][j])
		}
	}
	return sum / 2
}

// noise is the distance of resamples of the source from the source.
func (g *rankGrid) noise(in, out []int32) float64 {
	rng := rand.New(rand.NewPCG(5, 5))
	var sum float64
	const times = 5
	for range times {
		a, b := make([]int32, len(in)), make([]int32, len(in))
		for i := range a {
			k := rng.IntN(len(in))
			a[i], b[i] = in[k], out[k]
		}
		sum += g.distance(a, b)
	}
	return sum / times
}

// baseline takes out of a spec what makes it more than Poisson arrivals of
// independent lengths.
func baseline(sp *spec.Spec) *spec.Spec {
	b := *sp
	b.Workload.Arrivals = spec.Arrivals{Process: spec.ProcessPoisson, Rate: sp.Workload.Arrivals.Rate}
	b.Workload.Lengths.Joint = nil
	b.Workload.Prefix.Model = nil
	return &b
}

// TestFidelity fits each public trace, draws it anew under several seeds and
// holds what comes out to the thresholds of the workload statistics. The
// baseline shows that the metrics would notice.
func TestFidelity(t *testing.T) {
	for _, name := range publicTraces {
		t.Run(name, func(t *testing.T) {
			src := public(t, name)
			sp, err := fit.Fit(src, fit.Options{})
			check(t, err)
			raw, err := spec.Encode(sp)
			check(t, err)
			in, out := lengthsOf(src)
			grid := newRankGrid(in, out)
			source := measure(t, src, src, grid)
			var runs []column
			for seed := range uint64(seeds) {
				x, err := synth.Trace(sp, synth.Options{Seed: seed})
				check(t, err)
				runs = append(runs, measure(t, src, x, grid))
			}
			x, err := synth.Trace(baseline(sp), synth.Options{Seed: 1, For: span(src)})
			check(t, err)
			base := measure(t, src, x, grid)
			noise := grid.noise(in, out)
			t.Logf("%s: spec of %d bytes, noise of the joint TV10 %.3f", name, len(raw), noise)
			report(t, source, runs, base)
		})
	}
}

func report(t *testing.T, source column, runs []column, base column) {
	keys := map[string]bool{}
	for k := range runs[0] {
		keys[k] = true
	}
	t.Logf("%-14s %10s %10s %9s %10s", "metric", "source", "mean", "sd", "baseline")
	for _, k := range slices.Sorted(mapsKeys(keys)) {
		m, sd := meanSD(runs, k)
		t.Logf("%-14s %10.4g %10.4g %9.2g %10.4g", k, source[k], m, sd, base[k])
	}
}
func mapsKeys(m map[string]bool) func(func(string) bool) {
	return func(y func(string) bool) {
		for k := range m {
			if !y(k) {
				return
			}
		}
	}
}

func meanSD(runs []column, key string) (mean, sd float64) {
	x := make([]float64, len(runs))
	for i := range runs {
		x[i] = runs[i][key]
	}
	v := dist.NewValues(x)
	return v.Mean(), v.SD()
}

func span(x *trace.Trace) time.Duration {
	return time.Duration(x.Requests[len(x.Requests)-1].T.V+1) * time.Microsecond
}
