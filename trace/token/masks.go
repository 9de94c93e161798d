package token

import (
	"encoding/binary"
	"math/bits"
)

// blockSize is the number of bytes that are classified together: one bit each.
const blockSize = 64

// blockPad is how far beyond a block its text is read: a key of 16 bytes may
// start at the last byte.
const blockPad = 16

// masks holds one bit for each byte of a block. What is in none of the first
// eight is an ASCII symbol.
type masks struct {
	lower, upper, digit, blank uint64 // ASCII; blank is white space without CR, LF
	newline                    uint64 // CR, LF
	space                      uint64 // U+0020, also in blank
	quote                      uint64 // U+0027
	high                       uint64 // not ASCII
	lead                       uint64 // first bytes of characters that are not ASCII
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// atLeast sets the high bit of each byte of x that is at least c, all under 128.
func atLeast(x uint64, c byte) uint64 { return x + uint64(0x80-c)*ones }

// differs sets the high bit of each byte of x that is not c, all under 128.
func differs(x uint64, c byte) uint64 { return (x ^ uint64(c)*ones) + 0x7F*ones }

// gather moves the high bit of byte i to bit i.
func gather(x uint64) uint64 { return (x & highs) * 0x0002040810204081 >> 56 }

// classifyPlain fills m for one block, eight bytes at a time. It defines what
// the assembly does.
func classifyPlain(m *masks, block *[blockSize]byte) {
	*m = masks{}
	for i := range blockSize / 8 {
		w := binary.LittleEndian.Uint64(block[8*i:])
		x := w &^ highs
		ascii := ^w
		shift := uint(8 * i)
		m.lower |= gather(atLeast(x, 'a')&^atLeast(x, 'z'+1)&ascii) << shift
		m.upper |= gather(atLeast(x, 'A')&^atLeast(x, 'Z'+1)&ascii) << shift
		m.digit |= gather(atLeast(x, '0')&^atLeast(x, '9'+1)&ascii) << shift
		space := ^differs(x, ' ') & ascii
		newline := ^(differs(x, '\n') & differs(x, '\r')) & ascii
		m.blank |= gather((atLeast(x, '\t')&^atLeast(x, '\r'+1)|space)&^newline&ascii) << shift
		m.newline |= gather(newline) << shift
		m.space |= gather(space) << shift
		m.quote |= gather(^differs(x, '\'')&ascii) << shift
		m.high |= gather(w) << shift
		m.lead |= gather(w&(w<<1)) << shift
	}
}

// trailing returns the number of ones at the upper end of x.
func trailing(x uint64) int { return bits.LeadingZeros64(^x) }
