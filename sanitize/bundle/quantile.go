package bundle

import (
	"math"
	"slices"

	"reprise/trace/spec"
)

// inside returns the range [from, to) of probabilities in [k/n, 1-k/n]: the
// quantiles with at least k records on either side.
func inside(p []spec.Num, n, k int64) (from, to int) {
	const slack = 1e-6 // probabilities have six digits
	lo := float64(k)/float64(n) - slack
	hi := 1 - float64(k)/float64(n) + slack
	for from < len(p) && float64(p[from]) < lo {
		from++
	}
	to = len(p)
	for to > from && float64(p[to-1]) > hi {
		to--
	}
	return from, to
}

// tableMean returns the mean of the distribution that runs straight between
// the points of a quantile table and is constant outside them. It says nothing
// that the table does not.
func tableMean(p, v []spec.Num) float64 {
	last := len(p) - 1
	m := float64(p[0]) * float64(v[0])
	m += float64((1 - float64(p[last])) * float64(v[last]))
	for i := range last {
		m += float64(float64(p[i+1]-p[i]) * float64(v[i]+v[i+1]) / 2)
	}
	return m
}

// at returns the quantile at u, straight between the points of a table.
func at(p, v []spec.Num, u float64) float64 {
	i := 0
	for i < len(p) && float64(p[i]) < u {
		i++
	}
	switch {
	case i == 0:
		return float64(v[0])
	case i == len(p):
		return float64(v[len(v)-1])
	}
	share := (u - float64(p[i-1])) / float64(p[i]-p[i-1])
	return float64(v[i-1]) + float64(share*float64(v[i]-v[i-1]))
}

// part is a quantile table with its weight in a mixture.
type part struct {
	weight float64
	p, v   []spec.Num
}

// mixPoints is how many points stand for each part of a mixture.
const mixPoints = 1000

// mix returns the quantiles, at probabilities p, of the mixture of parts. It is
// exact but for the points between those of the tables; values are whole, as
// the lengths and distances that it is used for are.
func mix(p []spec.Num, parts ...part) []spec.Num {
	type atom struct{ v, weight float64 }
	var atoms []atom
	total := 0.0
	for _, t := range parts {
		for j := range mixPoints {
			u := (float64(j) + 0.5) / mixPoints
			atoms = append(atoms, atom{math.Round(at(t.p, t.v, u)), t.weight / mixPoints})
		}
		total += t.weight
	}
	slices.SortStableFunc(atoms, func(a, b atom) int {
		if a.v < b.v {
			return -1
		}
		if a.v > b.v {
			return 1
		}
		return 0
	})
	out := make([]spec.Num, len(p))
	i, sum := 0, atoms[0].weight
	for j := range p {
		for i < len(atoms)-1 && sum < float64(float64(p[j])*total)-1e-9*total {
			i++
			sum += atoms[i].weight
		}
		out[j] = spec.Round(atoms[i].v)
	}
	return out
}
