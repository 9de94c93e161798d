package token

import (
	"encoding/binary"
	"math/bits"
)

// wideClasses holds, for the characters of a block that are not ASCII, the
// masks of their classes, of all their bytes, and of their first bytes by size.
type wideClasses struct {
	class [classCount]uint64
	size  [8]uint64 // first bytes of characters of 2, 3, 4 bytes
	cut   uint64    // first bytes of characters before which a word may be cut
}

// wide classifies the characters that start at the bits of lead.
func (r *blockRules) wide(w *wideClasses, block []byte, lead uint64) {
	t, cuts := r.classes, r.cuts
	before := -1 // end of the character of three bytes before this one
	var last uint32
	for ; lead != 0; lead &= lead - 1 {
		i := bits.TrailingZeros64(lead)
		b := binary.LittleEndian.Uint32(block[i:])
		switch {
		case b&0xF0 == 0xE0:
			c := b&0x0F<<12 | b>>2&0xFC0 | b>>16&0x3F
			k := t.blocks[t.page[c>>8]][c&255]
			w.class[k] |= 7 << i
			w.size[3] |= 1 << i
			if i == before && cuts != nil && cuts.safe(last, c) {
				w.cut |= 1 << i
			}
			before, last = i+3, c
		case b&0xE0 == 0xC0:
			c := b&0x1F<<6 | b>>8&0x3F
			k := t.blocks[t.page[c>>8]][c&255]
			w.class[k] |= 3 << i
			w.size[2] |= 1 << i
		default:
			c := b&7<<18 | b&0x3F00<<4 | b>>10&0xFC0 | b>>24&0x3F
			k := t.blocks[t.page[c>>8]][c&255]
			w.class[k] |= 15 << i
			w.size[4] |= 1 << i
		}
	}
}

// startsWide is starts for a block with characters that are not ASCII.
func (r *blockRules) startsWide(m *masks, text []byte, p, n int) (found, cut uint64, doubtful bool) {
	valid, limit := ^uint64(0), blockSize-4
	if n-p <= blockSize {
		valid, limit = ^uint64(0)>>(blockSize-n+p), n-p
	}
	var w wideClasses
	r.wide(&w, text[p:], m.lead&valid)
	one := valid &^ m.high

	up, low := (m.upper|w.class[upper])&valid, (m.lower|w.class[lower])&valid
	free := w.class[caseless] & valid // letters of either case
	symbolWide := w.class[other]
	if r.cased {
		free |= w.class[mark] & valid
	} else {
		symbolWide |= w.class[mark]
	}
	letter := up | low | free
	num, blank, line := (m.digit|w.class[digit])&valid, (m.blank|w.class[space])&valid, m.newline&valid
	symbol := valid &^ (letter | num | blank | line)

	white := blank | line
	if n-p > blockSize && white>>(blockSize-1) != 0 {
		limit = min(limit, blockSize-trailing(white)+1)
	}

	wordStart := letter &^ (letter << 1)
	symbolStart := symbol &^ (symbol << 1)
	joined := symbolStart & (m.space << 1)
	symbolStart &^= joined
	absorbed := symbolStart & one & (wordStart >> 1)
	a2 := symbolStart & w.size[2] & (wordStart >> 2)
	a3 := symbolStart & w.size[3] & (wordStart >> 3)
	a4 := symbolStart & w.size[4] & (wordStart >> 4)
	wordStart &^= absorbed<<1 | a2<<2 | a3<<3 | a4<<4 | blank<<1

	tail := line & (symbol << 1)
	tail = ((line + tail) ^ line) & line
	found = wordStart | symbolStart | r.digitStarts(num)
	doubt := w.class[digit] & valid
	if r.slash {
		doubt |= slashes(text[p:], symbol&(tail<<1))
	}
	if r.cased {
		found |= up & (low << 1)
		doubt |= up & (free << 1)
		// A mark behind symbols belongs to them unless they are one symbol alone.
		doubt |= wordStart & w.class[mark] & (symbol << 1)
	}
	found |= whiteStarts(white&^tail, blank, line&^tail, valid)
	next := valid &^ white & (blank << 1)
	found |= next>>1&m.blank | next>>2&w.size[2]&blank | next>>3&w.size[3]&blank

	if quotes := absorbed & m.quote; quotes != 0 {
		found = r.contractions(found, quotes, letter, text, p)
	}
	found, _, doubtful = finish(found, doubt, limit)
	if w.cut != 0 && found != 0 {
		cut = w.cut & free & (free << 1) & (1<<(63-bits.LeadingZeros64(found)) - 1)
	}
	return found, cut, doubtful
}
