package token

import (
	"encoding/binary"
	"math/bits"

	"reprise/trace/token/class"
)

// wideClasses holds, for the characters of a block that are not ASCII, the
// masks of their classes, of all their bytes, and of their first bytes by size.
type wideClasses struct {
	class [class.Count]uint64
	size  [5]uint64 // first bytes of characters of 2, 3, 4 bytes
}

// wide classifies the characters that start at the bits of lead; high has all
// bytes that are not ASCII. The three bits of the classes are gathered apart,
// which needs neither branches nor stores.
func (r *blockRules) wide(w *wideClasses, block []byte, lead, high uint64) {
	t := r.classes
	rest := high &^ lead
	w.size[2] = lead & (rest >> 1) &^ (rest >> 2)
	w.size[3] = lead & (rest >> 2) &^ (rest >> 3)
	w.size[4] = lead & (rest >> 2) & (rest >> 3)
	var bit0, bit1, bit2 uint64
	for ; lead != 0; lead &= lead - 1 {
		i := bits.TrailingZeros64(lead)
		b := binary.LittleEndian.Uint32(block[i:])
		var c uint32
		all := uint64(15)
		switch {
		case b&0xF0 == 0xE0:
			c, all = threeOf(b), 7
		case b&0xE0 == 0xC0:
			c, all = b&0x1F<<6|b>>8&0x3F, 3
		default:
			c = b&7<<18 | b&0x3F00<<4 | b>>10&0xFC0 | b>>24&0x3F
		}
		k := uint64(t.Of(rune(c)))
		all <<= i
		bit0 |= all & -(k & 1)
		bit1 |= all & -(k >> 1 & 1)
		bit2 |= all & -(k >> 2)
	}
	// Class k is where the three bits spell k.
	by0, by2, by4, by6 := high&^(bit2|bit1), high&^bit2&bit1, high&bit2&^bit1, high&bit2&bit1
	w.class = [class.Count]uint64{
		by0 &^ bit0, by0 & bit0, by2 &^ bit0, by2 & bit0, by4 &^ bit0, by4 & bit0, by6 &^ bit0, by6 & bit0,
	}
}

// cutsAt returns those of the given first bytes of characters of three bytes,
// each behind another such, before which a word may be cut.
func (f *cutFilter) cutsAt(block []byte, at uint64) (cut uint64) {
	for ; at != 0; at &= at - 1 {
		i := bits.TrailingZeros64(at)
		left, right := binary.LittleEndian.Uint32(block[i-3:]), binary.LittleEndian.Uint32(block[i:])
		cut |= (f.spanned(threeOf(left), threeOf(right)) ^ 1) << i
	}
	return cut
}

// threeOf decodes the character of three bytes in the lower ones of b.
func threeOf(b uint32) uint32 { return b&0x0F<<12 | b>>2&0xFC0 | b>>16&0x3F }

// startsWide is starts for a block with characters that are not ASCII.
func (r *blockRules) startsWide(m *masks, text []byte, p, n int) (found, cut uint64, doubtful bool) {
	valid, limit := ^uint64(0), blockSize-4
	if n-p <= blockSize {
		valid, limit = ^uint64(0)>>(blockSize-n+p), n-p
	}
	var w wideClasses
	r.wide(&w, text[p:], m.lead&valid, m.high)
	one := valid &^ m.high

	up, low := (m.upper|w.class[class.Upper])&valid, (m.lower|w.class[class.Lower])&valid
	free := w.class[class.Caseless] & valid // letters of either case
	symbolWide := w.class[class.Other]
	if r.cased {
		free |= w.class[class.Mark] & valid
	} else {
		symbolWide |= w.class[class.Mark]
	}
	letter := up | low | free
	num, blank, line := (m.digit|w.class[class.Digit])&valid, (m.blank|w.class[class.Space])&valid, m.newline&valid
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
	doubt := w.class[class.Digit] & valid
	if r.slash {
		doubt |= slashes(text[p:], symbol&(tail<<1))
	}
	if r.cased {
		found |= up & (low << 1)
		doubt |= up & (free << 1)
		// A mark behind symbols belongs to them unless they are one symbol alone.
		doubt |= wordStart & w.class[class.Mark] & (symbol << 1)
	}
	found |= whiteStarts(white&^tail, blank, line&^tail, valid)
	next := valid &^ white & (blank << 1)
	found |= next>>1&m.blank | next>>2&w.size[2]&blank | next>>3&w.size[3]&blank

	if quotes := absorbed & m.quote; quotes != 0 {
		found = r.contractions(found, quotes, letter, text, p)
	}
	found, _, doubtful = finish(found, doubt, limit)
	if r.cuts != nil && found != 0 {
		within := free & (free << 1) & (1<<(63-bits.LeadingZeros64(found)) - 1)
		cut = r.cuts.cutsAt(text[p:], within&w.size[3]&(w.size[3]<<3))
	}
	return found, cut, doubtful
}
