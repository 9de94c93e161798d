package token

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// shortMiss is a piece of up to shortKey bytes that waits for its ids: its key
// in the cache and the slot that is reserved for it.
type shortMiss struct {
	lo, hi uint64
	slot   uint32
}

// bytes puts the piece into b and returns its length.
func (m *shortMiss) bytes(b *[16]byte) int {
	binary.LittleEndian.PutUint64(b[:], m.lo)
	binary.LittleEndian.PutUint64(b[8:], m.hi)
	return int(m.hi >> 56)
}

// laneCount is the number of short pieces that are merged at the same time. A
// merge needs the two pairs that the last one has made, from a table that is not
// in the nearest caches; while they are under way the other lanes go on.
const laneCount = 8

// lane is a short piece in work. Byte i of it stands at i+1; 0 and the place
// behind the last byte hold edgeID, which merges with nothing.
type lane struct {
	rank  [16]uint32 // id<<4 | place of what the symbol at a place and the next become
	id    [17]int32  // symbols, where alive
	alive uint32     // places at which a symbol starts, and both edges
	slot  uint32     // of the cache
	at    [2]uint32  // places whose pairs are looked up
	key   [2]uint64  // these pairs
}

const (
	edgeID   = 1<<idBits - 1
	noRank   = uint32(noMerge) << 4
	noLookUp = ^uint64(0) // a key that no pair has
)

// lanes are the pieces that one worker merges together.
type lanes struct {
	lane  [laneCount]lane
	pairs [2 * laneCount]uint32 // slots of the pairs of each lane
}

// mergeShort implements pieceMerger: rounds of one merge in each lane.
func (m *merger) mergeShort(words *wordCache, queue []shortMiss) {
	l, t := &m.lanes, m.vocab.pairs
	n := min(len(queue), laneCount)
	for i := range n {
		l.lane[i].start(m.vocab, &queue[i])
	}
	queue = queue[n:]
	for n > 0 {
		for i := 0; i < n; i++ {
			a := &l.lane[i]
			for !a.step(t, (*[2]uint32)(l.pairs[2*i:])) {
				m.finish(words, a)
				if len(queue) > 0 {
					a.start(m.vocab, &queue[0])
					queue = queue[1:]
				} else if n--; i < n {
					*a = l.lane[n]
					*(*[2]uint32)(l.pairs[2*i:]) = [2]uint32(l.pairs[2*n:])
				} else {
					break
				}
			}
		}
		prefetch(unsafe.Pointer(unsafe.SliceData(t.slots)), &l.pairs[0], 2*n, 3)
	}
}

// start fills the lane with a piece.
func (a *lane) start(v *vocabulary, miss *shortMiss) {
	var b [16]byte
	n := miss.bytes(&b)
	a.slot = miss.slot
	a.alive = 1<<(n+2) - 1
	for i := range a.rank {
		a.rank[i] = noRank
	}
	a.id[0] = edgeID
	for i := range n {
		a.id[(i+1)&15] = v.bytes[b[i&15]]
	}
	a.id[n+1] = edgeID
	pairs := &v.pairs.bytes
	for i := 1; i < n; i++ {
		a.rank[i&15] = uint32(pairs[int(b[i-1])<<8|int(b[i])])<<4 | uint32(i)
	}
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
		a.rank[a.at[i]&15] = r<<4 | a.at[i]
	}
	best := a.least()
	if best >= noRank {
		return false
	}
	at, id := best&15, int32(best>>4)
	rest := a.alive >> (at + 1)
	gone := at + 1 + uint32(bits.TrailingZeros32(rest))
	rest &= rest - 1
	after := at + 1 + uint32(bits.TrailingZeros32(rest))
	before := uint32(31-bits.LeadingZeros32(a.alive&(1<<at-1))) & 15
	a.alive &^= 1 << gone
	a.id[at] = id
	a.rank[gone&15] = noRank
	a.at = [2]uint32{at, before}
	a.key[0] = pairKey(id, a.id[min(after, 16)])
	a.key[1] = pairKey(a.id[before], id)
	pairs[0] = uint32(t.slot(a.key[0]))
	pairs[1] = uint32(t.slot(a.key[1]))
	return true
}

// least returns the least of all ranks.
func (a *lane) least() uint32 {
	r := &a.rank
	x := min(min(min(r[0], r[1]), min(r[2], r[3])), min(min(r[4], r[5]), min(r[6], r[7])))
	y := min(min(min(r[8], r[9]), min(r[10], r[11])), min(min(r[12], r[13]), min(r[14], r[15])))
	return min(x, y)
}

// finish puts the symbols that are left into the cache.
func (m *merger) finish(words *wordCache, a *lane) {
	var ids [16]int32
	n := 0
	left := a.alive &^ 1
	for left &= left &^ (1 << (31 - bits.LeadingZeros32(left))); left != 0; left &= left - 1 {
		ids[n&15] = a.id[bits.TrailingZeros32(left)&15]
		n++
	}
	words.fill(int(a.slot), ids[:n])
}
