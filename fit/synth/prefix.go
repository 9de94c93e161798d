package synth

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"reprise/trace/spec"
)

// prefixes gives requests their blocks, in two steps. Before the first request
// each prompt is dealt how deep it hits (newPrefixes); in order of arrival it is
// then dealt how long ago what it hits was used, in distinct blocks touched
// since, continues the earlier prompt that comes nearest to that, and goes on
// with blocks that nothing has had before.
type prefixes struct {
	rng       *rand.Rand
	size      int32
	root      int32 // depth up to which a hit is on what most prompts share
	upto      []float64
	hits      []int32 // by request: the depth it is dealt
	back      []*deck // by stratum: distances, nil where it never hits beyond the root
	past      history
	continued float64         // share of hits beyond the root that take up a whole prompt
	owed      int32           // blocks that such hits fell short of what they were dealt
	next      int64           // first block number not yet given away
	turns     *talks          // nil when requests are not turns
	elder     map[int32]int32 // by request: the first turn that continues it
	input     []int32         // by request, and what is answered
	output    []int32
}

// newPrefixes takes the model of first turns where turns are told: what further
// ones share is their session's history.
func newPrefixes(p *spec.Prefix, s *spec.Sessions, turns *talks, input, output []int32, seed uint64) *prefixes {
	g := &prefixes{rng: stream(seed, streamPrefix), size: int32(min(p.BlockTokens, math.MaxInt32)), turns: turns, elder: map[int32]int32{}, input: input, output: output}
	m := p.Model
	if turns != nil && s.FirstReuse != nil {
		m = s.FirstReuse
	}
	if m == nil {
		return g
	}
	g.root = int32(p.Common())
	if c := m.Continued; c != nil {
		g.continued = float64(c.Value)
	}
	for _, s := range m.Strata {
		g.upto = append(g.upto, float64(s.Upto))
	}
	g.deal(m, input)
	g.past.reserve(len(input))
	return g
}

// deal gives each request its depth. Inside a stratum depths go in random order
// to the prompts that are long enough for them, the short ones first: their
// distribution is that of the spec and no depth exceeds its prompt.
func (g *prefixes) deal(m *spec.Reuse, input []int32) {
	g.hits = make([]int32, len(input))
	g.back = make([]*deck, len(m.Strata))
	members := make([][]int32, len(m.Strata))
	for i, in := range input {
		if g.parent(i) >= 0 {
			continue
		}
		s := g.stratum(in)
		members[s] = append(members[s], int32(i))
	}
	for s, list := range members {
		slices.SortStableFunc(list, func(a, b int32) int { return int(input[a]/g.size - input[b]/g.size) })
		depths := newDeck(table(m.P, m.Strata[s].HitBlocks), len(list), g.rng)
		depths.stacked = int64(g.root)
		deep := 0
		for _, i := range list {
			most := int64(input[i] / g.size) // a partial block cannot hit
			h := int32(min(depths.draw(most, g.rng), most))
			g.hits[i] = h
			if h > g.root {
				deep++
			}
		}
		if deep > 0 && len(m.Strata[s].Distance) > 0 {
			g.back[s] = newDeck(table(m.P, m.Strata[s].Distance), deep, g.rng)
		}
	}
}

func (g *prefixes) stratum(in int32) int {
	return min(sort.SearchFloat64s(g.upto, float64(in)), len(g.upto)-1)
}

// maxBlocks bounds the blocks of a trace, 4 bytes each in its lists.
const maxBlocks = 1 << 30

var errBlocks = errors.New("the trace would have over 2^30 prefix blocks: ask for a shorter one")

// checkBlocks adds up the blocks that prompts will have, before any is made.
func (g *prefixes) checkBlocks(input []int32) error {
	var sum int64
	for _, in := range input {
		sum += g.blocks(in)
	}
	if sum > maxBlocks {
		return errBlocks
	}
	return nil
}

// blocks is how many blocks a prompt has, a partial last one included.
func (g *prefixes) blocks(in int32) int64 { return (int64(in) + int64(g.size) - 1) / int64(g.size) }

// draw returns the blocks of the i-th prompt, of in tokens: ceil(in/size) of
// them, the partial last one shared by nothing.
func (g *prefixes) draw(i int, in int32) []int32 {
	n := g.blocks(in)
	blocks := make([]int32, 0, n)
	switch {
	case len(g.hits) > 0 && g.parent(i) >= 0:
		blocks = append(blocks, g.history(i, in)...)
	case len(g.hits) > 0:
		blocks = append(blocks, g.shared(g.hits[i], in)...)
	}
	shared := len(blocks)
	for int64(len(blocks)) < n {
		blocks = append(blocks, int32(g.next))
		g.next++
	}
	if len(g.hits) > 0 {
		g.past.add(blocks, shared, in/g.size)
	}
	return blocks
}

// parent is the request that the i-th continues, −1 for none.
func (g *prefixes) parent(i int) int32 {
	if g.turns == nil {
		return -1
	}
	return g.turns.parent[i]
}

// history returns what a turn of in tokens sends again of the prompt before. One
// that continues what another turn continues already sends the same answer as
// that one, whose blocks are there.
func (g *prefixes) history(i int, in int32) []int32 {
	p := g.parent(i)
	n := int32(math.Round(g.turns.kept[i] * float64(g.past.whole[p])))
	elder, forks := g.elder[p]
	if !forks {
		g.elder[p] = int32(i)
	} else if n >= g.past.whole[p] && g.turns.kept[elder] == 1 {
		n = int32(min(int64(g.input[p])+int64(g.output[p]), int64(g.input[elder])) / int64(g.size))
		p = elder
	}
	return g.past.past[p][:max(min(n, g.past.whole[p], in/g.size), 0)]
}

// shared returns the blocks with which a prompt begins, h of them or about so.
func (g *prefixes) shared(h, in int32) []int32 {
	if h == 0 {
		return nil
	}
	if h <= g.root {
		return g.past.nearest(h, 0)
	}
	var back int64
	if d := g.back[g.stratum(in)]; d != nil {
		back = d.draw(g.past.touched, g.rng)
	}
	if g.rng.Float64() < g.continued {
		// Prompts end where they end: what one hit lacks, the next gets.
		some := h / slackPart
		want := h + min(max(g.owed, -some), some)
		if b := g.past.ending(want, in/g.size, back); b != nil {
			g.owed += h - int32(len(b))
			return b
		}
	}
	return g.past.nearest(h, back)
}
