package sanitize

import (
	"encoding/binary"
	"math"
	"slices"
	"sync/atomic"

	"reprise/trace/block"
)

// Chained digests end where a changing field stands: what prompts share behind
// it is not seen. Marks see it: digests of short windows of tokens, at places
// that the tokens themselves choose (winnowing: of every markEvery windows the
// one of least hash), so that a stretch has the same marks wherever it stands. A
// link digests the tokens from a mark through the next one: of two prompts with
// the same link nothing in it differs.
// They are keyed like the blocks, held in memory for a sample of prompts, and
// never written.
const (
	markWidth  = 8    // tokens of a window
	markEvery  = 8    // a stretch of markWidth+markEvery-1 tokens has a mark, and marks are so near each other
	markTokens = 4096 // of a prompt, from its beginning
	leadDense  = 64   // up to here a prompt is told apart to the token, then to leadStep
	leadStep   = 16
)

// mark is a window and the token at which it begins.
type mark struct {
	digest uint64
	at     int32
}

// link is the digest of the tokens [from, to): those of two marks in a row and
// all between them.
type link struct {
	digest   uint64
	from, to int32
}

// marks are what is kept of one prompt: the links of its marks in order, and
// digests of its beginnings.
type marks struct {
	rank    uint64 // of its row, in the sample
	seed    uint64 // of its root, which engines keep apart from others
	tokens  int
	windows []mark
	links   []link
	lead    []uint64
	blocks  []byte // digests of its first whole blocks
	before  int    // tokens of those that a request before it in the log had
}

func (m *marks) reset() { *m = marks{windows: m.windows[:0], links: m.links[:0], lead: m.lead[:0]} }

// of marks the tokens of a prompt whose chain starts at root.
func (m *marks) of(root block.Digest, tokens []int32) {
	m.windows, m.links, m.lead, m.tokens = m.windows[:0], m.links[:0], m.lead[:0], len(tokens)
	tokens = tokens[:min(len(tokens), markTokens)]
	seed := binary.LittleEndian.Uint64(root[:8])
	m.seed = seed
	m.beginnings(seed, tokens)
	m.winnow(seed, tokens)
	m.join(tokens)
}

// join makes the links between marks in a row.
func (m *marks) join(tokens []int32) {
	for i := 1; i < len(m.windows); i++ {
		a, b := m.windows[i-1], m.windows[i]
		g := a.digest
		for _, t := range tokens[a.at+markWidth : b.at+markWidth] {
			g = scramble(g ^ uint64(uint32(t)))
		}
		m.links = append(m.links, link{g, a.at, b.at + markWidth})
	}
}

// beginnings digests the prompt up to each of its first leadDense tokens, and up
// to every leadStep after.
func (m *marks) beginnings(seed uint64, tokens []int32) {
	g := seed
	for i, t := range tokens {
		g = scramble(g ^ uint64(uint32(t)))
		if i < leadDense || (i+1)%leadStep == 0 {
			m.lead = append(m.lead, g)
		}
	}
}

// leadAt is how many tokens the first n beginnings have.
func leadAt(n int) int {
	if n <= leadDense {
		return n
	}
	return leadDense + leadStep*(n-leadDense)
}

// winnow keeps, of every markEvery windows in a row, the rightmost of least hash.
// The choice hangs on the tokens alone, so that no key shows in what is found.
func (m *marks) winnow(seed uint64, tokens []int32) {
	const base = 0x9e3779b97f4a7c15
	top := uint64(1) // base to the power of markWidth
	for range markWidth {
		top *= base
	}
	var h uint64
	var order [markEvery]mark // of windows that may still be least, hashes ascending
	first, n := 0, 0
	last := int32(-1)
	for i, t := range tokens {
		h = h*base + scramble(uint64(uint32(t)))
		if i >= markWidth {
			h -= top * scramble(uint64(uint32(tokens[i-markWidth])))
		}
		at := int32(i - markWidth + 1)
		if at < 0 {
			continue
		}
		x := mark{scramble(h), at}
		for n > 0 && order[(first+n-1)%markEvery].digest >= x.digest {
			n--
		}
		for n > 0 && order[first].at <= at-markEvery {
			first, n = (first+1)%markEvery, n-1
		}
		order[(first+n)%markEvery] = x
		n++
		if least := order[first]; at >= markEvery-1 && least.at != last {
			last = least.at
			m.windows = append(m.windows, mark{scramble(least.digest ^ seed), least.at})
		}
	}
}

// scramble is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// sampleMarks bounds the prompts whose marks are held: 22 KB each at most.
const sampleMarks = 512

// sampler holds the marks of an even sample of prompts: those whose rows have
// the least hashes. So goroutines know beforehand of most prompts that they will
// not be in it, and which ones are does not hang on who comes first.
type sampler struct {
	seen  int64 // prompts with tokens
	kept  []marks
	limit atomic.Uint64 // what a rank must be below
}

func newSampler() *sampler {
	s := new(sampler)
	s.limit.Store(math.MaxUint64)
	return s
}

// rank of a request of a row: its place in a random order.
func rank(row, sub int64) uint64 { return scramble(scramble(uint64(row))+uint64(sub)) >> 1 }

// wants says whether a prompt of a rank may be in the sample. Goroutines may ask.
func (s *sampler) wants(rank uint64) bool { return rank < s.limit.Load() }

// add takes a prompt into the sample, or lets it go; of equal ranks the first
// stays.
func (s *sampler) add(m *marks) {
	if m.tokens == 0 {
		return
	}
	s.seen++
	if len(m.lead) == 0 || !s.wants(m.rank) {
		return
	}
	at, _ := slices.BinarySearchFunc(s.kept, m.rank, func(k marks, r uint64) int {
		if k.rank <= r {
			return -1
		}
		return 1
	})
	s.kept = slices.Insert(s.kept, at, marks{rank: m.rank, seed: m.seed, tokens: m.tokens, links: slices.Clone(m.links), lead: slices.Clone(m.lead), blocks: slices.Clone(m.blocks)})
	if len(s.kept) > sampleMarks {
		s.kept = s.kept[:sampleMarks]
	}
	if len(s.kept) == sampleMarks {
		s.limit.Store(s.kept[sampleMarks-1].rank)
	}
}
