package token

import (
	"encoding/binary"
	"math/bits"
)

// shortKey is the length in bytes up to which a piece is its own key.
const shortKey = 15

// Sizes of a wordCache as powers of two: a few kilobytes of text need no more
// than the first, and each step is taken when half of the slots are used.
const (
	firstCacheBits = 10
	cacheStep      = 2
	lastCacheBits  = 20
)

// A window is the number of slots that a piece may be in, its home first.
const window = 8

// spillMark in the high key marks a piece of more than three ids: val[0] is the
// place of its ids in spill. It makes the key differ from what a piece has.
const spillMark = 1 << 63

// cacheEntry is a piece of up to 15 bytes: its bytes with zeros behind them, its
// length in the last byte of hi, three ids and their number.
type cacheEntry struct {
	lo, hi uint64
	val    [4]int32
}

// entryShift is the size of a cacheEntry as a power of two.
const entryShift = 5

// wordCache remembers what pieces are encoded as. It is never wrong: the key is
// the piece. It grows up to 2^lastCacheBits entries (32 MB, from some 130,000
// different pieces on) and then starts anew.
type wordCache struct {
	slots []cacheEntry
	shift uint
	used  int
	spill []int32
}

const maxSpill = 1 << 20

func (c *wordCache) resize(bits int) {
	c.slots = newSlots[cacheEntry](1 << bits)
	c.shift = uint(64 - bits)
	c.used = 0
	c.spill = c.spill[:0]
}

// keyMask cuts a key to a length and adds the length.
type keyMask struct{ lo, hi, tag uint64 }

// longTag is the high key of what is longer than shortKey.
const longTag = ^uint64(0)

// newKeyMasks returns the masks of lengths 0 to 15; the last gives longer pieces
// a key that no entry has.
func newKeyMasks() (m [shortKey + 2]keyMask) {
	for n := range shortKey + 1 {
		m[n] = keyMask{lo: ^uint64(0), tag: uint64(n) << 56}
		if n < 8 {
			m[n].lo = 1<<(8*n) - 1
		} else {
			m[n].hi = 1<<(8*(n-8)) - 1
		}
	}
	m[shortKey+1].tag = longTag
	return m
}

// packKey returns the key of the piece of n bytes at the start of text, of which
// 16 bytes can be read.
func packKey(text []byte, k *keyMask) (lo, hi uint64) {
	return binary.LittleEndian.Uint64(text) & k.lo, binary.LittleEndian.Uint64(text[8:])&k.hi | k.tag
}

// hashKey mixes all bits of a key into the upper bits of the result.
func hashKey(lo, hi uint64) uint64 {
	h, l := bits.Mul64(lo^0x9E3779B97F4A7C15, hi^0xD6E8FEB86659FD93)
	return h ^ l
}

// ids returns the ids of an entry.
func (c *wordCache) ids(e *cacheEntry) []int32 {
	if e.hi&spillMark != 0 {
		return c.spill[e.val[0]:][:e.val[3]]
	}
	return e.val[:e.val[3]]
}

// noSlot is the place of a key whose window is full.
const noSlot = ^uint32(0)

// reserve returns the slot of a key: the one where it is, or a free one that is
// then its own and must be filled, or noSlot.
func (c *wordCache) reserve(lo, hi uint64, home uint32) (at uint32, fresh bool) {
	for i := range uint32(window) {
		at := (home ^ i) & uint32(len(c.slots)-1)
		e := &c.slots[at]
		if e.lo == lo && e.hi&^spillMark == hi {
			return at, false
		}
		if e.hi == 0 {
			e.lo, e.hi = lo, hi
			c.used++
			return at, true
		}
	}
	return noSlot, false
}

// fill sets the ids of a reserved slot.
func (c *wordCache) fill(at uint32, ids []int32) {
	e := &c.slots[at]
	if e.val[3] = int32(len(ids)); len(ids) <= 3 {
		copy(e.val[:3], ids)
		return
	}
	e.hi |= spillMark
	e.val[0] = int32(len(c.spill))
	c.spill = append(c.spill, ids...)
}

// full tells whether the cache must grow or start anew.
func (c *wordCache) full() bool {
	if len(c.slots) == 1<<lastCacheBits {
		return c.used > len(c.slots)*13/16 || len(c.spill) > maxSpill
	}
	return c.used > len(c.slots)/2
}

func (c *wordCache) reset() {
	clear(c.slots)
	c.used, c.spill = 0, c.spill[:0]
}

// grow makes the next size and keeps what is known.
func (c *wordCache) grow() {
	old, spill := c.slots, c.spill
	c.spill = nil
	c.resize(bits.Len(uint(len(old))) - 1 + cacheStep)
	for i := range old {
		if e := &old[i]; e.hi != 0 {
			ids := e.val[:min(e.val[3], 3)]
			if e.hi&spillMark != 0 {
				ids = spill[e.val[0]:][:e.val[3]]
			}
			hi := e.hi &^ spillMark
			if at, fresh := c.reserve(e.lo, hi, uint32(hashKey(e.lo, hi)>>c.shift)); fresh {
				c.fill(at, ids)
			}
		}
	}
}
