package token

// longPiece is the length in bytes from which a heap is faster than scanning
// all pairs for the lowest.
const longPiece = 128

// merger holds the arrays of one encoding; one goroutine uses it at a time.
type merger struct {
	vocab *vocabulary
	ids   [longPiece]int32 // tokens of a short piece
	rank  [longPiece]int32 // token that ids[i] and its right neighbour become

	long struct {
		id, rank   []int32
		prev, next []int32
		heap       []uint64 // rank<<32 | position, least first
	}
}

// mergePiece implements pieceMerger.
func (m *merger) mergePiece(dst []int32, piece string) []int32 {
	if id, ok := m.vocab.wholeToken(piece); ok {
		return append(dst, id)
	}
	return m.encode(dst, m.vocab, piece)
}

// encode appends the tokens of a non-empty piece to dst: the pair with the
// lowest rank is joined first, the leftmost where several have it, until none is
// in the vocabulary.
func (m *merger) encode(dst []int32, v *vocabulary, piece string) []int32 {
	if len(piece) > longPiece {
		return m.encodeLong(dst, v, piece)
	}
	n := len(piece)
	for i := range n {
		m.ids[i] = v.bytes[piece[i]]
	}
	for i := range n - 1 {
		m.rank[i] = v.pairs.merge(m.ids[i], m.ids[i+1])
	}
	for n > 1 {
		at, best := 0, noMerge
		for i, r := range m.rank[:n-1] {
			if r < best {
				at, best = i, r
			}
		}
		if best == noMerge {
			break
		}
		m.ids[at] = best
		copy(m.ids[at+1:n-1], m.ids[at+2:n])
		copy(m.rank[at:n-1], m.rank[at+1:n])
		n--
		if at > 0 {
			m.rank[at-1] = v.pairs.merge(m.ids[at-1], best)
		}
		if at < n-1 {
			m.rank[at] = v.pairs.merge(best, m.ids[at+1])
		}
	}
	return append(dst, m.ids[:n]...)
}

// encodeLong does the same with a linked list and a heap, in n log n steps. A
// heap entry whose rank is no longer that of its position is stale and skipped.
func (m *merger) encodeLong(dst []int32, v *vocabulary, piece string) []int32 {
	l := &m.long
	m.startLong(v, piece)
	for len(l.heap) > 0 {
		top := l.heap[0]
		m.pop()
		at, rank := int32(top&0xFFFFFFFF), int32(top>>32)
		if l.rank[at] != rank {
			continue
		}
		gone := l.next[at]
		after := l.next[gone]
		l.id[at], l.next[at] = rank, after
		l.rank[gone] = noMerge
		l.rank[at] = noMerge
		if after >= 0 {
			l.prev[after] = at
			m.setRank(at, v.pairs.merge(rank, l.id[after]))
		}
		if before := l.prev[at]; before >= 0 {
			m.setRank(before, v.pairs.merge(l.id[before], rank))
		}
	}
	for i := int32(0); i >= 0; i = l.next[i] {
		dst = append(dst, l.id[i])
	}
	return dst
}

// startLong fills the list with the bytes of piece and the heap with their pairs.
func (m *merger) startLong(v *vocabulary, piece string) {
	l, n := &m.long, len(piece)
	if cap(l.id) < n {
		l.id, l.rank = make([]int32, n), make([]int32, n)
		l.prev, l.next = make([]int32, n), make([]int32, n)
	}
	l.id, l.rank, l.prev, l.next = l.id[:n], l.rank[:n], l.prev[:n], l.next[:n]
	for i := range n {
		l.id[i] = v.bytes[piece[i]]
		l.rank[i], l.prev[i], l.next[i] = noMerge, int32(i-1), int32(i+1)
	}
	l.next[n-1] = -1
	l.heap = l.heap[:0]
	for i := range n - 1 {
		if r := v.pairs.merge(l.id[i], l.id[i+1]); r != noMerge {
			l.rank[i] = r
			l.heap = append(l.heap, uint64(r)<<32|uint64(i))
		}
	}
	for i := len(l.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
}

// setRank notes what the pair at position at becomes.
func (m *merger) setRank(at, rank int32) {
	m.long.rank[at] = rank
	if rank == noMerge {
		return
	}
	h := append(m.long.heap, uint64(rank)<<32|uint64(at))
	m.long.heap = h
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up] <= h[i] {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// pop removes the least entry of the heap.
func (m *merger) pop() {
	h := m.long.heap
	n := len(h) - 1
	h[0] = h[n]
	m.long.heap = h[:n]
	m.down(0)
}

// down restores the heap below i.
func (m *merger) down(i int) {
	h := m.long.heap
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && h[right] < h[least] {
			least = right
		}
		if h[i] <= h[least] {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// tooBig tells whether the arrays are too large to keep for the next text.
func (m *merger) tooBig() bool { return cap(m.long.id) > 1<<16 }
