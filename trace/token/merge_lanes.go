package token

import (
	"math/bits"
	"unsafe"
)

// lanePiece is the length in bytes up to which pieces are merged in lanes.
const lanePiece = 31

// miss is a piece that waits for its ids: text[start:start+size].
type miss struct {
	start, size uint32
	piece       uint32 // its number in the batch
	ids, n      uint32 // where its ids are in the result, and how many
}

// laneCount is the number of pieces that are merged at the same time. A
// merge needs the two pairs that the last one has made, from a table that is not
// in the nearest caches; while they are under way the other lanes go on.
const laneCount = 8

// lane is a piece in work. Byte i of it stands at i+1; 0 and the place behind the
// last byte hold edgeID, which merges with nothing.
type lane struct {
	rank  [32]uint32 // id<<5 | place of what the symbol at a place and the next become
	id    [33]int32  // symbols, where alive
	alive uint64     // places at which a symbol starts, and both edges
	long  bool       // more than the first half of rank is in use
	piece *miss
	at    [2]uint32 // places whose pairs are looked up
	key   [2]uint64 // these pairs
}

const (
	pairShift = 3 // the size of a slot of a pairTable as a power of two

	edgeID   = 1<<idBits - 1
	noRank   = uint32(noMerge) << 5
	noLookUp = ^uint64(0) // a key that no pair has
)

// lanes are the pieces that one worker merges together.
type lanes struct {
	lane  [laneCount]lane
	pairs [2 * laneCount]uint32 // slots of the pairs of each lane
}

// mergeMisses implements pieceMerger: rounds of one merge in each lane.
func (m *merger) mergeMisses(dst []int32, text []byte, queue []miss) []int32 {
	l := &m.lanes
	n := 0
	for i := range queue {
		q := &queue[i]
		if q.size > lanePiece {
			q.ids = uint32(len(dst))
			dst = m.mergePiece(dst, stringOf(text[q.start:][:q.size]))
			q.n = uint32(len(dst)) - q.ids
			continue
		}
		for n == laneCount {
			dst, n = m.round(dst, n)
		}
		l.lane[n].begin(m.vocab, text[q.start:][:q.size], q)
		n++
	}
	for n > 0 {
		dst, n = m.round(dst, n)
	}
	return dst
}

// round goes one step in each of the first n lanes and returns how many are left.
func (m *merger) round(dst []int32, n int) ([]int32, int) {
	l, t := &m.lanes, m.vocab.pairs
	for i := 0; i < n; {
		a := &l.lane[i]
		if a.step(t, (*[2]uint32)(l.pairs[2*i:])) {
			i++
			continue
		}
		dst = a.finish(dst)
		if n--; i < n {
			*a = l.lane[n]
			*(*[2]uint32)(l.pairs[2*i:]) = [2]uint32(l.pairs[2*n:])
		}
	}
	prefetch(unsafe.Pointer(unsafe.SliceData(t.slots)), &l.pairs[0], 2*n, pairShift)
	return dst, n
}

// begin fills the lane with a piece.
func (a *lane) begin(v *vocabulary, piece []byte, q *miss) {
	n := len(piece)
	a.piece, a.long = q, n > 15
	a.alive = 1<<(n+2) - 1
	for i := range a.rank {
		a.rank[i] = noRank
	}
	a.id[0] = edgeID
	pairs, before := &v.pairs.bytes, 0
	for i, b := range piece {
		a.id[(i+1)&31] = v.bytes[b]
		a.rank[i&31] = uint32(pairs[before<<8|int(b)])<<5 | uint32(i)
		before = int(b)
	}
	a.rank[0] = noRank
	a.id[n+1] = edgeID
	a.at, a.key = [2]uint32{}, [2]uint64{noLookUp, noLookUp}
}

// step takes the results of the pairs looked up last, joins the pair of the
// lowest rank, the leftmost of equal ones, and names the two pairs that come of
// it. It returns false when there is none to join.
func (a *lane) step(t *pairTable, pairs *[2]uint32) bool {
	for i := range 2 {
		v := t.slots[uint64(pairs[i])&uint64(len(t.slots)-1)]
		r := uint32(v & (1<<idBits - 1))
		if v>>idBits != a.key[i] {
			r = uint32(noMerge)
		}
		a.rank[a.at[i]&31] = r<<5 | a.at[i]
	}
	best := least(a.rank[:16])
	if a.long {
		best = min(best, least(a.rank[16:]))
	}
	if best >= noRank {
		return false
	}
	at, id := best&31, int32(best>>5)
	rest := a.alive >> (at + 1)
	gone := at + 1 + uint32(bits.TrailingZeros64(rest))
	rest &= rest - 1
	after := at + 1 + uint32(bits.TrailingZeros64(rest))
	before := uint32(63-bits.LeadingZeros64(a.alive&(1<<at-1))) & 31
	a.alive &^= 1 << (gone & 63)
	a.id[at] = id
	a.rank[gone&31] = noRank
	a.at = [2]uint32{at, before}
	a.key[0] = pairKey(id, a.id[min(after, 32)])
	a.key[1] = pairKey(a.id[before], id)
	pairs[0] = uint32(t.slot(a.key[0]))
	pairs[1] = uint32(t.slot(a.key[1]))
	return true
}

// least returns the least of sixteen ranks.
func least(ranks []uint32) uint32 {
	r := (*[16]uint32)(ranks)
	x := min(min(min(r[0], r[1]), min(r[2], r[3])), min(min(r[4], r[5]), min(r[6], r[7])))
	y := min(min(min(r[8], r[9]), min(r[10], r[11])), min(min(r[12], r[13]), min(r[14], r[15])))
	return min(x, y)
}

// finish appends the symbols that are left.
func (a *lane) finish(dst []int32) []int32 {
	a.piece.ids = uint32(len(dst))
	left := a.alive &^ 1
	for left &^= 1 << (63 - bits.LeadingZeros64(left)); left != 0; left &= left - 1 {
		dst = append(dst, a.id[bits.TrailingZeros64(left)&31])
	}
	a.piece.n = uint32(len(dst)) - a.piece.ids
	return dst
}
