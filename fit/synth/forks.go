package synth

import (
	"math/rand/v2"

	"reprise/trace/spec"
)

// forks draws which turns continue a request that another turn continues
// already, so that of the continued requests the share of the spec has several.
// Gaps are measured from the request that is continued: a fork takes a gap that
// reaches beyond the session's last turn, so that gaps stay those of the table.
type forks struct {
	share     float64
	rng       *rand.Rand
	children  []int32 // by request, nil when nothing forks
	continued float64
	several   float64
}

func newForks(share *spec.Number, n int, seed uint64) *forks {
	f := new(forks)
	if share != nil && share.Value > 0 {
		f.share, f.rng, f.children = float64(share.Value), stream(seed, streamForks), make([]int32, n)
	}
	return f
}

// from is what a turn after the i-th request continues: that one, or an earlier
// one of its chain that has one turn so far and a gap (µs) reaches from.
func (f *forks) from(parent []int32, times []int64, i int, gap int64) int32 {
	last := int32(i)
	if f.share == 0 || f.rng.Float64() >= float64(f.share*(f.continued+1))-f.several {
		return last
	}
	for p := parent[i]; p >= 0 && times[p]+gap > times[i]; p = parent[p] {
		if f.children[p] == 1 {
			return p
		}
	}
	return last
}

// took notes that a turn continues a request.
func (f *forks) took(from int32) {
	if f.share == 0 {
		return
	}
	f.children[from]++
	switch f.children[from] {
	case 1:
		f.continued++
	case 2:
		f.several++
	}
}
