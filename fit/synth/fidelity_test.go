package synth_test

import (
	"fmt"
	"maps"
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

// seeds is how many traces are drawn of each source; of moreSeeds the arrivals
// alone are looked at, since bursts vary most.
const seeds, moreSeeds = 5, 20

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
	c.lengths(srcIn, srcOut, in, out)
	c["joint TV10"] = grid.distance(in, out)
	c.arrivals(t, x)
	prefixColumn(t, x, in, c)
	return c
}

func (c column) arrivals(t testing.TB, x *trace.Trace) {
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
}

func (c column) lengths(srcIn, srcOut, in, out []int32) {
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
// holds what comes out to the thresholds of the workload statistics. The noise
// column is a resample of the source's lengths, the baseline column Poisson and
// independent: it shows that the metrics have power.
func TestFidelity(t *testing.T) {
	for _, name := range publicTraces {
		t.Run(name, func(t *testing.T) {
			src := public(t, name)
			sp, err := fit.Fit(src, fit.Options{})
			check(t, err)
			raw, err := spec.Encode(sp)
			check(t, err)
			sp, err = spec.Decode(raw) // what the file holds, and no more
			check(t, err)
			in, out := lengthsOf(src)
			grid := newRankGrid(in, out)
			f := fidelity{t: t, name: name, source: measure(t, src, src, grid), noise: noise(src, grid)}
			clock := clockOf(sp)
			for seed := range uint64(moreSeeds) {
				x, err := synth.Trace(sp, synth.Options{Seed: seed})
				check(t, err)
				x = stamped(x, clock)
				c := column{"n": float64(len(x.Requests))}
				if seed < seeds {
					c = measure(t, src, x, grid)
				} else {
					c.arrivals(t, x)
				}
				f.runs = append(f.runs, c)
			}
			x, err := synth.Trace(baseline(sp), synth.Options{Seed: 1, For: span(src)})
			check(t, err)
			f.base = measure(t, src, stamped(x, clock), grid)
			f.report(len(raw))
			f.lengths()
			f.bursts()
			f.prefixes()
			f.powerless()
		})
	}
}

// noise describes lengths drawn from the source itself, the mean of five times.
func noise(src *trace.Trace, grid *rankGrid) column {
	rng := rand.New(rand.NewPCG(5, 5))
	in, out := lengthsOf(src)
	c := column{}
	const times = 5
	for range times {
		a, b := make([]int32, len(in)), make([]int32, len(in))
		for i := range a {
			k := rng.IntN(len(in))
			a[i], b[i] = in[k], out[k]
		}
		one := column{}
		one.lengths(in, out, a, b)
		one["joint TV10"] = grid.distance(a, b)
		for k, v := range one {
			c[k] += v / times
		}
	}
	return c
}

// clockOf is the step of the source's time stamps where it is so coarse that
// counts depend on it, else 0.
func clockOf(sp *spec.Spec) int64 {
	r := sp.Workload.Arrivals.Resolution
	if r == nil || r.Value < 1 {
		return 0
	}
	return int64(float64(r.Value) * 1e6)
}

// stamped gives a trace the clock of its source: bins that are no multiple of
// the step alias with it, the source's do too.
func stamped(x *trace.Trace, step int64) *trace.Trace {
	if step == 0 {
		return x
	}
	out := *x
	out.Requests = slices.Clone(x.Requests)
	for i := range out.Requests {
		out.Requests[i].T.V -= out.Requests[i].T.V % step
	}
	return &out
}

func span(x *trace.Trace) time.Duration {
	return time.Duration(x.Requests[len(x.Requests)-1].T.V+1) * time.Microsecond
}

// fidelity is the table of one source.
type fidelity struct {
	t                   *testing.T
	name                string
	source, noise, base column
	runs                []column
}

func (f *fidelity) report(bytes int) {
	f.t.Logf("%s: spec of %d bytes", f.name, bytes)
	f.t.Logf("%-14s %10s %10s %9s %10s %10s", "metric", "source", "synthetic", "sd", "noise", "baseline")
	for _, k := range slices.Sorted(maps.Keys(f.source)) {
		m, sd, _ := f.of(k)
		f.t.Logf("%-14s %10.4g %10.4g %9.2g %10.3g %10.4g", k, f.source[k], m, sd, f.noise[k], f.base[k])
	}
}

// of is the mean of a metric over the seeds that have it, its sd, and the
// standard error of the mean.
func (f *fidelity) of(key string) (mean, sd, se float64) {
	var x []float64
	for _, r := range f.runs {
		if v, ok := r[key]; ok {
			x = append(x, v)
		}
	}
	if len(x) == 0 {
		return 0, 0, 0
	}
	v := dist.NewValues(x)
	return v.Mean(), v.SD(), v.SD() / math.Sqrt(float64(len(x)))
}

// most fails when the mean of a metric is above a limit.
func (f *fidelity) most(key string, limit float64) {
	f.t.Helper()
	if m, _, _ := f.of(key); !(m <= limit) {
		f.t.Errorf("%s: %s is %.4g, the limit is %.4g", f.name, key, m, limit)
	}
}

// within fails when the mean of a metric is further from the source than a
// share of it, and a standard error of the mean over seeds.
func (f *fidelity) within(key string, share float64) {
	f.t.Helper()
	m, _, se := f.of(key)
	if !(math.Abs(m-f.source[key]) <= share*f.source[key]+se) {
		f.t.Errorf("%s: %s is %.4g, the source has %.4g", f.name, key, m, f.source[key])
	}
}

func (f *fidelity) lengths() {
	n := f.source["n"]
	for _, r := range f.runs {
		if r["n"] != n {
			f.t.Errorf("%s: %v requests, the source has %v", f.name, r["n"], n)
		}
		for _, key := range []string{"input KS", "output KS"} {
			if limit := max(0.01, 1.5*math.Sqrt(2/n)); r[key] > limit {
				f.t.Errorf("%s: %s is %.4g, the limit is %.4g", f.name, key, r[key], limit)
			}
		}
	}
	for _, key := range []string{"input", "output"} {
		f.most(key+" W1/mean", max(0.02, 1.5*f.noise[key+" W1/mean"]))
		f.within(key+" mean", 0.02)
		f.within(key+" p50", 0.03)
		f.within(key+" p95", 0.03)
		f.within(key+" p99", 0.05)
	}
	f.most("joint TV10", f.noise["joint TV10"]+0.05)
}

func (f *fidelity) bursts() {
	bursty := f.source["IDC(1 s)"] > 5
	for _, w := range []string{"1 s", "10 s", "60 s"} {
		p, idc := "P("+w+")", "IDC("+w+")"
		if _, ok := f.source[p]; !ok {
			continue // the source's clock hides it
		}
		limit := map[string]float64{"1 s": 0.30, "10 s": 0.15, "60 s": 0.05}[w]
		ratio := 0.20
		if bursty {
			limit, ratio = map[string]float64{"1 s": 0.35, "10 s": 0.15, "60 s": 0.05}[w], 0.25
		}
		f.within(p, limit)
		m, _, se := f.of(idc)
		if e := math.Abs(math.Log(m / f.source[idc])); !(e <= ratio+se/m) {
			f.t.Errorf("%s: %s is %.4g, the source has %.4g", f.name, idc, m, f.source[idc])
		}
	}
	if cv := f.source["local CV"]; cv > 0 && cv < 1.5 {
		if m, _, _ := f.of("local CV"); math.Abs(m-cv) > 0.05 {
			f.t.Errorf("%s: the local CV is %.3f, the source has %.3f", f.name, m, cv)
		}
	}
}

func (f *fidelity) prefixes() {
	for key, limit := range map[string]float64{"hit inf": 0.01, "hit inf full": 0.01, "hit requests": 0.02,
		"hit 0.3 M": 0.06, "hit 1.0 M": 0.06, "hit 3.0 M": 0.06, "hit 10.0 M": 0.06, "hit 30.0 M": 0.03} {
		m, _, _ := f.of(key)
		if e := math.Abs(m - f.source[key]); !(e <= limit) {
			f.t.Errorf("%s: %s is %.4f, the source has %.4f", f.name, key, m, f.source[key])
		}
	}
}

// powerless checks that the thresholds have power: Poisson arrivals and
// independent lengths miss those that they must miss on Azure's conversations.
func (f *fidelity) powerless() {
	if f.name != "azure-conv" {
		return
	}
	if b := f.base; b["joint TV10"] < 0.3 || math.Log(f.source["IDC(60 s)"]/b["IDC(60 s)"]) < 1 || b["P(60 s)"] > 0.9*f.source["P(60 s)"] {
		f.t.Errorf("the baseline is as good as the source: %v", b)
	}
}
