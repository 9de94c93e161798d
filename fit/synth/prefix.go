package synth

import (
	"errors"
	"math"
	"math/rand/v2"
	"sort"

	"reprise/fit/dist"
	"reprise/trace/spec"
)

// prefixes gives requests their blocks. For each it draws how deep the prompt
// hits and how long ago what it hits was used, continues the earlier request
// that fits best, and appends blocks that nothing has had before.
type prefixes struct {
	rng    *rand.Rand
	size   int32
	upto   []float64
	depth  []dist.Table
	back   []dist.Table // empty tables where a stratum never hits
	past   [][]int32
	stamps []int64 // distinct blocks touched up to and with past[i], about
	next   int64
}

func newPrefixes(p *spec.Prefix, seed uint64) *prefixes {
	g := &prefixes{rng: stream(seed, streamPrefix), size: int32(min(p.BlockTokens, math.MaxInt32))}
	if p.Model == nil {
		return g
	}
	for _, s := range p.Model.Strata {
		g.upto = append(g.upto, float64(s.Upto))
		g.depth = append(g.depth, table(p.Model.P, s.HitBlocks))
		var back dist.Table
		if len(s.Distance) > 0 {
			back = table(p.Model.P, s.Distance)
		}
		g.back = append(g.back, back)
	}
	return g
}

var errBlocks = errors.New("the trace would have over 2^31 prefix blocks: ask for a shorter one")

// draw returns the blocks of a prompt of in tokens: ceil(in/size) of them, the
// partial last one shared by nothing.
func (g *prefixes) draw(in int32) ([]int32, error) {
	n := (int64(in) + int64(g.size) - 1) / int64(g.size)
	if g.next+n > math.MaxInt32 {
		return nil, errBlocks
	}
	blocks := make([]int32, 0, n)
	// A partial block cannot hit, and neither can a prompt be all prefix.
	h := min(g.hit(in), int64(in/g.size))
	if h > 0 {
		blocks = append(blocks, g.partner(in, int(h))...)
	}
	for int64(len(blocks)) < n {
		blocks = append(blocks, int32(g.next))
		g.next++
	}
	g.remember(blocks)
	return blocks, nil
}

func (g *prefixes) stratum(in int32) int {
	return min(sort.SearchFloat64s(g.upto, float64(in)), len(g.upto)-1)
}

func (g *prefixes) hit(in int32) int64 {
	u := g.rng.Float64()
	if len(g.depth) == 0 {
		return 0
	}
	return int64(math.Round(g.depth[g.stratum(in)].At(u)))
}

// reach is how many neighbours of the best place are looked at for a chain that
// is long enough.
const reach = 512

// partner returns the first h blocks of the earlier request whose last use is
// nearest to a drawn distance, or as many as the deepest one near it has.
func (g *prefixes) partner(in int32, h int) []int32 {
	u := g.rng.Float64()
	if len(g.past) == 0 {
		return nil
	}
	back := 0.0
	if t := g.back[g.stratum(in)]; len(t.P) > 0 {
		back = t.At(u)
	}
	now := g.stamps[len(g.stamps)-1]
	at := sort.Search(len(g.stamps), func(i int) bool { return now-g.stamps[i] <= int64(back) })
	at = min(at, len(g.past)-1)
	best := g.past[at]
	for d := 1; len(best) < h && d <= max(reach, len(g.past)/8); d++ {
		for _, i := range [2]int{at - d, at + d} {
			if i >= 0 && i < len(g.past) && len(g.past[i]) > len(best) {
				best = g.past[i]
			}
		}
	}
	return best[:min(h, len(best))]
}

// remember stores a prompt. What it touches beyond the prompt before it counts
// as touched anew; a root that every prompt has does not.
func (g *prefixes) remember(blocks []int32) {
	var now int64
	shared := 0
	if k := len(g.past); k > 0 {
		now = g.stamps[k-1]
		for last := g.past[k-1]; shared < min(len(last), len(blocks)) && last[shared] == blocks[shared]; {
			shared++
		}
	}
	g.past = append(g.past, blocks)
	g.stamps = append(g.stamps, now+int64(len(blocks)-shared))
}
