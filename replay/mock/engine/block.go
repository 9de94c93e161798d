package engine

// pool is the KV memory: blocks that are held by sequences, and free blocks in
// order of last use. A free block keeps its content until it is taken again, so
// the free list is the prefix cache's LRU list too.
type pool struct {
	refs       []int32  // sequences that hold the block
	hash       []uint64 // content; 0 when nothing can find it
	prev, next []int32  // free list; the last index is its sentinel
	byHash     map[uint64]int32
	free       int
	unit       int // hits are whole multiples of so many blocks
}

func newPool(n int) *pool {
	p := &pool{refs: make([]int32, n), hash: make([]uint64, n), prev: make([]int32, n+1), next: make([]int32, n+1), byHash: map[uint64]int32{}, unit: 1}
	p.prev[n], p.next[n] = int32(n), int32(n)
	for i := range n {
		p.insert(int32(i), p.prev[n])
	}
	return p
}

// insert puts a block into the free list behind another.
func (p *pool) insert(b, after int32) {
	n := p.next[after]
	p.prev[b], p.next[b] = after, n
	p.next[after], p.prev[n] = b, b
	p.free++
}

// hold takes a block for one more sequence.
func (p *pool) hold(b int32) {
	if p.refs[b] == 0 {
		p.next[p.prev[b]], p.prev[p.next[b]] = p.next[b], p.prev[b]
		p.free--
	}
	p.refs[b]++
}

// take holds the free block that was used longest ago and forgets its content.
func (p *pool) take() int32 {
	b := p.next[len(p.refs)]
	p.hold(b)
	if p.hash[b] != 0 {
		delete(p.byHash, p.hash[b])
		p.hash[b] = 0
	}
	return b
}

// release gives back a sequence's blocks, the last first: the end of a chain is
// of no use without its beginning, so it is to go first. Blocks that nothing
// can find go to the front.
func (p *pool) release(s *seq) {
	end := int32(len(p.refs))
	for i := len(s.blocks) - 1; i >= 0; i-- {
		b := s.blocks[i]
		if p.refs[b]--; p.refs[b] > 0 {
			continue
		}
		if p.hash[b] == 0 {
			p.insert(b, end)
		} else {
			p.insert(b, p.prev[end])
		}
	}
	s.blocks = s.blocks[:0]
	s.known = 0
}

// lookup returns how many leading blocks of a sequence are cached and how many
// of those are free. The last token is always computed, as in vLLM, since its
// logits give the next one.
func (p *pool) lookup(s *seq) (hits, free int) {
	limit := min(len(s.hashes), int(s.total()-1)/BlockTokens)
	hits = p.leading(s.hashes[:limit])
	hits -= hits % p.unit
	for _, h := range s.hashes[:hits] {
		if p.refs[p.byHash[h]] == 0 {
			free++
		}
	}
	return hits, free
}

// leading counts the first blocks of a chain that are cached.
func (p *pool) leading(chain []uint64) int {
	for i, h := range chain {
		if _, ok := p.byHash[h]; !ok {
			return i
		}
	}
	return len(chain)
}

// admit takes blocks for all tokens of a sequence, unless fewer than spare
// would then be free. It returns how many held cached content.
func (p *pool) admit(s *seq, spare int) (hits int, ok bool) {
	hits, cachedFree := p.lookup(s)
	fresh := blocksFor(s.total()) - hits
	if p.free-cachedFree < fresh+spare {
		return 0, false
	}
	for _, h := range s.hashes[:hits] {
		b := p.byHash[h]
		p.hold(b)
		s.blocks = append(s.blocks, b)
	}
	for range fresh {
		s.blocks = append(s.blocks, p.take())
	}
	s.known = hits
	return hits, true
}

// grow makes room for one more token of a sequence.
func (p *pool) grow(s *seq) bool {
	if int(s.computed) < len(s.blocks)*BlockTokens {
		return true
	}
	if p.free == 0 {
		return false
	}
	s.blocks = append(s.blocks, p.take())
	return true
}

// learn makes the full prompt blocks among a sequence's first tokens findable,
// from the step that computes them, as vLLM does.
func (p *pool) learn(s *seq, tokens int32) {
	full := min(len(s.hashes), int(tokens)/BlockTokens)
	for ; s.known < full; s.known++ {
		h := s.hashes[s.known]
		if _, dup := p.byHash[h]; dup {
			continue // another sequence computed it at the same time
		}
		p.hash[s.blocks[s.known]] = h
		p.byHash[h] = s.blocks[s.known]
	}
}
