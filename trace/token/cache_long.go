package token

import (
	"hash/maphash"
	"math/bits"
)

// longKey is the length in bytes up to which pieces are remembered.
const longKey = 256

const (
	firstLongBits = 8
	lastLongBits  = 18
	maxLongText   = 4 << 20
)

type longEntry struct {
	hash      uint64
	text, ids uint32 // where they are in the arrays of the cache
	size, n   uint16 // bytes and ids; n is 0 in an empty slot
}

// longCache remembers pieces of up to longKey bytes, with their bytes. The zero
// value is empty.
type longCache struct {
	slots []longEntry
	used  int
	text  []byte
	ids   []int32
	seed  maphash.Seed
}

func (c *longCache) resize(bits int) {
	c.slots = make([]longEntry, 1<<bits)
	c.used = 0
}

// longRef is where the ids of a piece are.
type longRef struct{ ids, n uint32 }

// hash returns the hash of a piece.
func (c *longCache) hash(piece string) uint64 {
	if c.slots == nil {
		c.seed = maphash.MakeSeed()
		c.resize(firstLongBits)
	}
	return maphash.String(c.seed, piece)
}

// home is the slot of a hash, in units of longUnit.
func (c *longCache) home(h uint64) uint32 { return uint32(h&uint64(len(c.slots)-1)) * 3 }

// longUnit is a third of the size of a longEntry, as a power of two.
const longUnit = 3

// find returns where the ids of the piece with hash h are; n is 0 if it is not
// there.
func (c *longCache) find(h uint64, piece string) longRef {
	for i := range uint64(window) {
		e := &c.slots[(h+i)&uint64(len(c.slots)-1)]
		if e.n == 0 {
			break
		}
		if e.hash == h && string(c.text[e.text:][:e.size]) == piece {
			return longRef{e.ids, uint32(e.n)}
		}
	}
	return longRef{}
}

// put adds a piece and returns where its ids are, until the next makeRoom. Where
// the window of the piece is full it is not found later.
func (c *longCache) put(h uint64, piece string, ids []int32) longRef {
	if ref := c.find(h, piece); ref.n != 0 || len(ids) == 0 {
		return ref
	}
	e := longEntry{hash: h, text: uint32(len(c.text)), ids: uint32(len(c.ids)), size: uint16(len(piece)), n: uint16(len(ids))}
	if c.place(e) {
		c.text = append(c.text, piece...)
	}
	c.ids = append(c.ids, ids...)
	return longRef{e.ids, uint32(e.n)}
}

// get returns the ids.
func (c *longCache) get(ref longRef) []int32 { return c.ids[ref.ids:][:ref.n] }

func (c *longCache) place(e longEntry) bool {
	for i := range uint64(window) {
		s := &c.slots[(e.hash+i)&uint64(len(c.slots)-1)]
		if s.n == 0 {
			*s = e
			c.used++
			return true
		}
	}
	return false
}

// makeRoom grows the cache, or empties it when it is at its bounds.
func (c *longCache) makeRoom() {
	switch {
	case len(c.text) > maxLongText || len(c.ids) > maxLongText/4 || c.used > len(c.slots)/2 && len(c.slots) == 1<<lastLongBits:
		clear(c.slots)
		c.used, c.text, c.ids = 0, c.text[:0], c.ids[:0]
	case c.used > len(c.slots)/2:
		old := c.slots
		c.resize(bits.Len(uint(len(old))) + 1)
		for _, e := range old {
			if e.n != 0 {
				c.place(e)
			}
		}
	}
}
