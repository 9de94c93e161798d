package token

// shortPiece is the length in bytes from which a heap is faster than scanning all
// pairs for the lowest. Above longPiece, pieces are encoded in windows.
const (
	shortPiece = 128
	longPiece  = 64
)

// merger holds the arrays of one encoding; one goroutine uses it at a time.
type merger struct {
	vocab *vocabulary
	// Of a short piece: the token that starts at byte i, the token that it and
	// the next one become above the number i, and the neighbours.
	id         [shortPiece]int32
	rank       [shortPiece]uint64
	prev, next [shortPiece]uint8
	window     []int32 // of encodeRun
	known      longCache
	lanes      lanes
	steps      int // bytes merged and pairs looked at by encodeRun so far

	long struct {
		id, rank   []int32
		prev, next []int32
		heap       []uint64 // rank<<32 | position, least first
	}
}

// mergePiece implements pieceMerger.
func (m *merger) mergePiece(dst []int32, piece string) []int32 {
	if len(piece) > longPiece {
		return m.encodeRun(dst, piece)
	}
	return m.encodeWindow(dst, piece)
}

// encodeShort appends the tokens of a piece of 1 to shortPiece bytes to dst: the
// pair with the lowest rank is joined first, the leftmost where several have it,
// until none is in the vocabulary.
func (m *merger) encodeShort(dst []int32, piece string) []int32 {
	v := m.vocab
	n := len(piece)
	for i := range n {
		m.id[i] = v.bytes[piece[i]]
		m.prev[i], m.next[i] = uint8(i-1), uint8(i+1)
	}
	rank := m.rank[:n]
	for i := range n - 1 {
		rank[i] = uint64(v.pairs.bytes[int(piece[i])<<8|int(piece[i+1])])<<8 | uint64(i)
	}
	const none = uint64(noMerge) << 8
	rank[n-1] = none
	for {
		best := none
		for _, r := range rank {
			best = min(best, r)
		}
		if best == none {
			break
		}
		m.join(rank, v.pairs, uint8(best), int32(best>>8))
	}
	for i := 0; i < n; i = int(m.next[i]) {
		dst = append(dst, m.id[i])
	}
	return dst
}

// join makes the token at position at and its neighbour the token id.
func (m *merger) join(rank []uint64, pairs *pairTable, at uint8, id int32) {
	const none = uint64(noMerge) << 8
	gone := m.next[at]
	after := m.next[gone]
	m.id[at], m.next[at] = id, after
	rank[gone], rank[at] = none, none
	if int(after) < len(rank) {
		m.prev[after] = at
		rank[at] = uint64(pairs.merge(id, m.id[after]))<<8 | uint64(at)
	}
	if at > 0 {
		before := m.prev[at]
		rank[before] = uint64(pairs.merge(m.id[before], id))<<8 | uint64(before)
	}
}

// encodeHeap does the same with a linked list and a heap, in n log n steps. A
// heap entry whose rank is no longer that of its position is stale and skipped.
func (m *merger) encodeHeap(dst []int32, piece string) []int32 {
	l, v := &m.long, m.vocab
	m.startHeap(piece)
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

// startHeap fills the list with the bytes of piece and the heap with their pairs.
func (m *merger) startHeap(piece string) {
	l, v, n := &m.long, m.vocab, len(piece)
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
