package token

import "iter"

// cutFilter knows between which characters of three bytes no token of a
// vocabulary reaches from one into the other. There a word can be cut: its two
// parts are encoded as if they stood alone. Chinese and Japanese words, which
// rarely repeat, become parts that do.
type cutFilter struct {
	pairs [1 << 13]uint64 // hashed pairs of characters that a token spans
	// Characters of which a token holds a part together with some or all of a
	// neighbour: never cut after or before these.
	after, before [1 << 10]uint64
}

// pairBit is the bit of a pair in cutFilter.pairs.
func pairBit(left, right uint32) uint32 {
	return uint32((uint64(left)<<16 | uint64(right)) * 0x9E3779B97F4A7C15 >> (64 - 19))
}

// safe tells whether a word may be cut between two characters of three bytes.
func (f *cutFilter) safe(left, right uint32) bool { return f.spanned(left, right) == 0 }

// spanned is 1 where a word may not be cut between two characters, else 0.
func (f *cutFilter) spanned(left, right uint32) uint64 {
	i := pairBit(left, right)
	return (f.pairs[i>>6]>>(i&63) | f.after[left>>6&1023]>>(left&63) | f.before[right>>6&1023]>>(right&63)) & 1
}

// newCutFilter returns the filter of a vocabulary given by its tokens' bytes and
// ids.
func newCutFilter(tokens iter.Seq2[[]byte, int32]) *cutFilter {
	f := new(cutFilter)
	for token := range tokens {
		for i := 1; i < len(token); i++ {
			if token[i]&0xF0 == 0xE0 && token[i-1]&0xC0 == 0x80 {
				f.spans(token, i)
			}
		}
	}
	return f
}

// spans notes a token that reaches over the boundary before token[i], the first
// byte of a character of three.
func (f *cutFilter) spans(token []byte, i int) {
	whole := i >= 3 && token[i-3]&0xF0 == 0xE0
	if !whole {
		for _, b := range token[max(0, i-3):i] {
			if b&0xC0 != 0x80 {
				return // the character before is of another size
			}
		}
	}
	var left, right uint32
	if whole {
		left = threeBytes(token[i-3:])
	}
	if i+3 <= len(token) {
		right = threeBytes(token[i:])
		if whole {
			bit := pairBit(left, right)
			f.pairs[bit>>6] |= 1 << (bit & 63)
		} else {
			f.before[right>>6] |= 1 << (right & 63)
		}
		return
	}
	if whole {
		f.after[left>>6] |= 1 << (left & 63)
		return
	}
	// Parts of both: never cut before any character that begins as the right one.
	first, count := uint32(token[i]&0x0F)<<12, uint32(1<<12)
	if i+2 == len(token) {
		first, count = first|uint32(token[i+1]&0x3F)<<6, 1<<6
	}
	for c := first; c < first+count; c++ {
		f.before[c>>6] |= 1 << (c & 63)
	}
}

// threeBytes decodes a character of three bytes.
func threeBytes(b []byte) uint32 {
	return uint32(b[0]&0x0F)<<12 | uint32(b[1]&0x3F)<<6 | uint32(b[2]&0x3F)
}
