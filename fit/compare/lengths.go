package compare

import (
	"fmt"
	"math"
	"math/rand/v2"

	"reprise/fit"
	"reprise/fit/synth"
	"reprise/trace/spec"
)

// lengthPoints are the quantiles that are set side by side. From the 99th on a
// point needs minBeyond values above it on both sides.
var lengthPoints = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

const minBeyond = 20

func pointName(p float64) string { return fmt.Sprintf("p%g", 100*p) }

// lengths notes the moments and quantiles of both variables.
func (s *side) lengths() {
	for _, v := range []struct {
		name string
		n    int64
		mean float64
		at   func(float64) float64
	}{{"input", s.in.Len(), s.in.Mean(), s.in.Quantile}, {"output", s.out.Len(), s.out.Mean(), s.out.Quantile}} {
		if v.n == 0 {
			continue
		}
		s.values[v.name+" mean"] = v.mean
		n := v.n
		if s.Kind == "spec" {
			n = s.Requests // the table stands for so many
		}
		for _, p := range lengthPoints {
			if p < 0.99 || float64(n)*(1-p) >= minBeyond {
				s.values[v.name+" "+pointName(p)] = v.at(p)
			}
		}
	}
}

// pairs draws as many pairs as stand for the dependence in a spec; none where it
// does not tell it.
func (s *side) pairs(l spec.Lengths) {
	if l.Joint != nil {
		s.pairIn, s.pairOut = synth.Pairs(&l, midpoints, 1)
	}
}

// grid is the share of requests in each cell of the 10 by 10 grid of the ranks
// of input and output; ties are broken at random by a fixed seed.
type grid [10][10]float64

func newGrid(in, out []int32) *grid {
	rng := rand.New(rand.NewPCG(99, 99))
	a, b := fit.RankDeciles(in, rng), fit.RankDeciles(out, rng)
	var g grid
	for i := range a {
		g[a[i]][b[i]] += 1 / float64(len(a))
	}
	return &g
}

// variation is the total variation between two grids, 0 to 1.
func (g *grid) variation(h *grid) float64 {
	var sum float64
	for i := range g {
		for j := range g[i] {
			sum += math.Abs(g[i][j] - h[i][j])
		}
	}
	return sum / 2
}
