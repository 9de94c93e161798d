package token

import "hash/maphash"

// tokenIndex finds the id of a token by its bytes: open addressing, each slot
// one more than the number of an entry, with bits of the hash above.
type tokenIndex struct {
	text    []byte   // all tokens, one after the other
	off     []uint32 // entry i is text[off[i]:off[i+1]]
	ids     []int32  // of entry i
	slots   []uint64
	seed    maphash.Seed
	longest int
}

// newTokenIndex returns an index for about n tokens of size bytes together.
func newTokenIndex(n, size int) *tokenIndex {
	x := &tokenIndex{
		text: make([]byte, 0, size), off: make([]uint32, 1, n+1), ids: make([]int32, 0, n),
		seed: maphash.MakeSeed(),
	}
	x.grow(max(n, 16))
	return x
}

// grow makes room for n tokens at most half full.
func (x *tokenIndex) grow(n int) {
	size := 1
	for size < 2*n {
		size *= 2
	}
	x.slots = make([]uint64, size)
	for i := range x.ids {
		h := maphash.Bytes(x.seed, x.entry(i))
		x.slots[x.free(h)] = h&^indexMask | uint64(i+1)
	}
}

// indexMask holds the number of an entry within a slot.
const indexMask = 1<<24 - 1

func (x *tokenIndex) free(h uint64) uint64 {
	i := h & uint64(len(x.slots)-1)
	for x.slots[i] != 0 {
		i = (i + 1) & uint64(len(x.slots)-1)
	}
	return i
}

func (x *tokenIndex) entry(i int) []byte { return x.text[x.off[i]:x.off[i+1]] }

// put sets the id of token; a token that is there gets the new id.
func (x *tokenIndex) put(token []byte, id int32) {
	h := maphash.Bytes(x.seed, token)
	if i := x.findSlot(h, token); i >= 0 {
		x.ids[i] = id
		return
	}
	if 2*(len(x.ids)+1) > len(x.slots) {
		x.grow(2 * len(x.ids))
	}
	x.text = append(x.text, token...)
	x.off = append(x.off, uint32(len(x.text)))
	x.ids = append(x.ids, id)
	x.slots[x.free(h)] = h&^indexMask | uint64(len(x.ids))
	x.longest = max(x.longest, len(token))
}

func (x *tokenIndex) findSlot(h uint64, token []byte) int {
	for i := h; ; i++ {
		s := x.slots[i&uint64(len(x.slots)-1)]
		if s == 0 {
			return -1
		}
		if s&^indexMask == h&^indexMask {
			if n := int(s&indexMask) - 1; string(x.entry(n)) == string(token) {
				return n
			}
		}
	}
}

// find returns the id of token.
func (x *tokenIndex) find(token []byte) (int32, bool) {
	if len(token) > x.longest {
		return 0, false
	}
	if i := x.findSlot(maphash.Bytes(x.seed, token), token); i >= 0 {
		return x.ids[i], true
	}
	return 0, false
}

// findString is find for a string.
func (x *tokenIndex) findString(token string) (int32, bool) {
	if len(token) > x.longest {
		return 0, false
	}
	h := maphash.String(x.seed, token)
	for i := h; ; i++ {
		s := x.slots[i&uint64(len(x.slots)-1)]
		if s == 0 {
			return 0, false
		}
		if s&^indexMask == h&^indexMask {
			if n := int(s&indexMask) - 1; string(x.entry(n)) == token {
				return x.ids[n], true
			}
		}
	}
}
