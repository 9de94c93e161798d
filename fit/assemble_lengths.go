package fit

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"reprise/fit/dist"
	"reprise/trace/spec"
)

// What is told of lengths beside their tables.
const (
	minAtom      = 0.003 // share from which a value is an atom
	maxAtoms     = 20
	minCap       = 0.01 // share in the top of the range from which there is a cap
	minCapped    = 20   // values there, below which it is chance: one of fifty is 2 %
	minClass     = 200  // requests from which a class has tables of its own
	maxClasses   = 10
	noiseHalves  = 20
	maxNoiseSize = 100_000
)

// more adds atoms, cap, tail and censoring to a length. Families of capped
// answers are fitted with the cut ones censored.
func more(l *spec.Length, v dist.Values, from spec.From, cut dist.Values) {
	p := spec.Provenance{From: from, N: v.Len()}
	for _, a := range Atoms(v, minAtom) {
		l.Atoms = append(l.Atoms, spec.Atom{Provenance: p, Value: spec.Round(a.Value), Share: spec.Round(a.Share)})
	}
	slices.SortStableFunc(l.Atoms, func(a, b spec.Atom) int { return cmp.Compare(b.Share, a.Share) })
	l.Atoms = l.Atoms[:min(len(l.Atoms), maxAtoms)]
	slices.SortFunc(l.Atoms, func(a, b spec.Atom) int { return cmp.Compare(a.Value, b.Value) })
	if s := CapShare(v); s > minCap && float64(s*float64(v.Len())) >= minCapped {
		l.Cap = &spec.Cap{Provenance: p, Value: spec.Round(v.X[len(v.X)-1]), Share: spec.Round(s)}
	} else if g, err := dist.FitGPD(v.Positive()); err == nil {
		t := dist.Tail(v.Positive())
		ks := dist.KS(t, g.CDF)
		l.Tail = &spec.Family{Provenance: spec.Provenance{From: from, N: t.Len()}, Name: g.Name(), LogL: spec.Round(g.LogL(v)),
			BIC: spec.Round(dist.BIC(g, t)), KS: spec.Round(ks), Label: dist.Label(ks), Params: params(g)}
	}
	if cut.Len() > 0 {
		n := spec.MeasuredNumber(float64(cut.Len())/float64(v.Len()), "1", v.Len())
		n.From = from
		l.Censored = &n
		censored(l, v, cut)
	}
}

// censored replaces the families by their censored estimates, best BIC first. One
// that has none is left out: what it makes of the cut answers is no estimate, and
// its likelihood does not compare.
func censored(l *spec.Length, v, cut dist.Values) {
	whole, cut := v.Without(cut).Positive(), cut.Positive()
	fits := l.Families[:0]
	for _, x := range l.Families {
		f, err := dist.FitCensored(x.Name, whole, cut)
		if err != nil {
			continue
		}
		logL, ks := dist.CensoredLogL(f, whole, cut), dist.KSCensored(whole, cut, f.CDF)
		x.Params, x.LogL, x.KS, x.Label = params(f), spec.Round(logL), spec.Round(ks), dist.Label(ks)
		x.BIC = spec.Round(float64(float64(len(x.Params))*math.Log(float64(whole.Len()+cut.Len()))) - 2*logL)
		fits = append(fits, x)
	}
	slices.SortStableFunc(fits, func(a, b spec.Family) int { return cmp.Compare(a.BIC, b.BIC) })
	l.Families = fits
}

func params(f dist.Family) []spec.Param {
	var out []spec.Param
	for _, p := range f.Params() {
		out = append(out, spec.Param{Name: p.Name, Value: spec.Round(p.Value)})
	}
	return out
}

// dependence measures total variation from independence on the rank grid. The
// noise of long logs is that of a part of them, by the square root of the sizes.
func dependence(in, out []int32, from spec.From) *spec.Dependence {
	if len(in) < 200 {
		return nil
	}
	rng := rand.New(rand.NewPCG(99, 99))
	a, b := RankDeciles(in, rng), RankDeciles(out, rng)
	tv := fromIndependence(a, b)
	scale := 1.0
	if n := len(a); n > maxNoiseSize {
		scale = math.Sqrt(float64(maxNoiseSize) / float64(n))
		a, b = draw(a, maxNoiseSize, rng), draw(b, maxNoiseSize, rng)
	}
	var noise float64
	for range noiseHalves {
		rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		noise += scale * fromIndependence(a, b) / noiseHalves
	}
	return &spec.Dependence{Provenance: spec.Provenance{From: from, N: int64(len(in))}, TV: spec.Round(tv), Noise: spec.Round(noise)}
}

// draw moves k elements of x at random to its front and returns them.
func draw[T any](x []T, k int, rng *rand.Rand) []T {
	for i := range k {
		j := i + rng.IntN(len(x)-i)
		x[i], x[j] = x[j], x[i]
	}
	return x[:k]
}

// RankDeciles returns the tenth of the ranks, 0 to 9, that each value is in; ties
// are broken at random.
func RankDeciles(x []int32, rng *rand.Rand) []int8 {
	order := make([]int32, len(x))
	for i := range order {
		order[i] = int32(i)
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	out := make([]int8, len(x))
	for rank, i := range sortedBy(x, order) {
		out[i] = int8(rank * 10 / len(x))
	}
	return out
}

func fromIndependence(a, b []int8) float64 {
	var n [10][10]float64
	for i := range a {
		n[a[i]][b[i]]++
	}
	var sum float64
	for i := range n {
		for j := range n[i] {
			sum += math.Abs(n[i][j]/float64(len(a)) - 0.01)
		}
	}
	return sum / 2
}

// drift compares the halves of the log in order of arrival.
func drift(in, out []int32, from spec.From) *spec.LengthDrift {
	if len(in) < 400 || len(in) != len(out) {
		return nil
	}
	h := len(in) / 2
	rng := rand.New(rand.NewPCG(98, 98))
	d := &spec.LengthDrift{Provenance: spec.Provenance{From: from, N: int64(len(in))}}
	for _, v := range []struct {
		x                []int32
		ks, noise, ratio *spec.Num
	}{{in, &d.InputKS, &d.InputNoise, &d.InputRatio}, {out, &d.OutputKS, &d.OutputNoise, &d.OutputRatio}} {
		a, b := dist.FromInts(v.x[:h], 1), dist.FromInts(v.x[h:], 1)
		*v.ks = spec.Round(dist.KSTwo(a, b))
		if a.Mean() > 0 {
			*v.ratio = spec.Round(b.Mean() / a.Mean())
		}
		*v.noise = spec.Round(halvesNoise(v.x, rng))
	}
	return d
}

// halvesNoise is the 95th percentile of the KS distance of random halves.
func halvesNoise(x []int32, rng *rand.Rand) float64 {
	x = slices.Clone(x)
	scale := 1.0
	if len(x) > maxNoiseSize {
		scale = math.Sqrt(float64(maxNoiseSize) / float64(len(x)))
	}
	var ks []float64
	for range noiseHalves {
		part := x
		if len(x) > maxNoiseSize {
			part = draw(x, maxNoiseSize, rng)
		} else {
			rng.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		}
		h := len(part) / 2
		ks = append(ks, scale*dist.KSTwo(dist.FromInts(part[:h], 1), dist.FromInts(part[h:], 1)))
	}
	return dist.NewValues(ks).Quantile(0.95)
}

// classes are the lengths by model and by adapter, where there are several.
func classes(r *rows) []spec.ClassLengths {
	var out []spec.ClassLengths
	for _, by := range []struct {
		kind string
		of   *codes
	}{{"model", &r.models}, {"adapter", &r.adapters}} {
		in, gen := by.of.lengths(r)
		var names []int
		for k := range in {
			if len(in[k]) > 0 {
				names = append(names, k)
			}
		}
		if len(names) < 2 {
			continue
		}
		slices.SortFunc(names, func(a, b int) int {
			return cmp.Or(cmp.Compare(len(in[b]), len(in[a])), cmp.Compare(by.of.names[a], by.of.names[b]))
		})
		for _, k := range names[:min(len(names), maxClasses)] {
			if len(in[k]) < minClass {
				break
			}
			p := spec.Provenance{From: r.provenance(), N: int64(len(in[k]))}
			out = append(out, spec.ClassLengths{Provenance: p, Kind: by.kind, Alias: by.of.names[k], Input: shortTable(in[k], p), Output: shortTable(gen[k], p)})
		}
	}
	return out
}

// lengths are those of the requests that have both, by name.
func (c *codes) lengths(r *rows) (in, out [][]int32) {
	in, out = make([][]int32, len(c.names)), make([][]int32, len(c.names))
	if len(c.names) < 2 {
		return in, out
	}
	for i, code := range c.row {
		if code > 0 && r.input[i] >= 0 && r.output[i] >= 0 {
			in[code-1], out[code-1] = append(in[code-1], r.input[i]), append(out[code-1], r.output[i])
		}
	}
	return in, out
}

func shortTable(x []int32, p spec.Provenance) spec.Table {
	t := dist.NewTable(dist.FromInts(x, 1), jointGrid())
	return spec.Table{Provenance: p, P: spec.Nums(t.P), Values: spec.Nums(t.X)}
}

// between is epsilon squared by client (Kelley 1935): eta squared less what
// chance gives, (k−1) mean squares within for k clients. Eta squared itself is
// k/n of clients that are all alike, so half where each has two requests.
func between(r *rows) *spec.BetweenClients {
	all, k := r.all, float64(len(r.clients))
	if k < 2 || all.n < minClass || all.n <= k {
		return nil
	}
	ssIn := r.ssIn - float64(all.in*all.in/all.n)
	ssOut := r.ssOut - float64(all.out*all.out/all.n)
	if ssIn <= 0 || ssOut <= 0 {
		return nil
	}
	var bIn, bOut float64
	for _, id := range slices.Sorted(maps.Keys(r.clients)) {
		c := r.clients[id]
		bIn += float64(c.n * sq(c.in/c.n-all.in/all.n))
		bOut += float64(c.n * sq(c.out/c.n-all.out/all.n))
	}
	return &spec.BetweenClients{Provenance: spec.Provenance{From: r.provenance(), N: int64(len(r.clients))},
		Input: spec.Round(epsilonSquared(bIn, ssIn, all.n, k)), Output: spec.Round(epsilonSquared(bOut, ssOut, all.n, k))}
}

// epsilonSquared of the sums of squares between k groups and of all n.
func epsilonSquared(between, all, n, k float64) float64 {
	within := max(all-between, 0) / (n - k)
	return min(max((between-float64((k-1)*within))/all, 0), 1)
}

func sq(x float64) float64 { return float64(x * x) }
