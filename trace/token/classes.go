package token

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// class is what the pre-tokenizers know of a character. Each character has
// exactly one: the sets of their regular expressions are unions of these.
type class uint8

const (
	other    class = iota // punctuation, symbols, controls, unassigned
	space                 // White_Space without CR and LF
	newline               // CR, LF
	digit                 // N
	upper                 // Lu, Lt
	lower                 // Ll
	caseless              // Lm, Lo
	mark                  // M
	classCount
)

// Sets of classes, as bits.
const (
	isLetter = 1<<upper | 1<<lower | 1<<caseless
	isSpace  = 1<<space | 1<<newline
)

func (c class) in(set uint) bool { return set>>c&1 != 0 }

// unicode16 holds the classes of all code points as runs in order: a uvarint of
// eight times the length of the run plus its class. Made from General_Category
// and White_Space of the Unicode Character Database 16.0.0, which is what the
// reference tokenizer's tables hold; package unicode has another version, and
// ids must not change with the Go release.
//
//go:embed unicode16.bin
var unicode16 []byte

const maxRunes = utf8.MaxRune + 1

// classTable maps a code point to its class in two steps.
type classTable struct {
	ascii  [utf8.RuneSelf]class
	page   [maxRunes >> 8]uint16
	blocks [][256]class
}

// newClassTable expands the runs and shares equal blocks of 256 code points.
func newClassTable(runs []byte) (*classTable, error) {
	t := new(classTable)
	known := map[[256]class]uint16{}
	var block [256]class
	at := 0
	for len(runs) > 0 {
		v, n := binary.Uvarint(runs)
		if n <= 0 || v>>3 > uint64(maxRunes-at) {
			return nil, fmt.Errorf("character classes: damaged table")
		}
		runs = runs[n:]
		for range v >> 3 {
			block[at&255] = class(v & 7)
			at++
			if at&255 != 0 {
				continue
			}
			id, ok := known[block]
			if !ok {
				id = uint16(len(t.blocks))
				known[block] = id
				t.blocks = append(t.blocks, block)
			}
			t.page[at>>8-1] = id
		}
	}
	if at != maxRunes {
		return nil, fmt.Errorf("character classes: table ends at %#x", at)
	}
	copy(t.ascii[:], t.blocks[t.page[0]][:])
	return t, nil
}

// at returns the class and size in bytes of the character at text[i], i within
// text; the text is valid UTF-8.
func (t *classTable) at(text string, i int) (class, int) {
	if b := text[i]; b < utf8.RuneSelf {
		return t.ascii[b], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	return t.blocks[t.page[r>>8]][r&255], size
}

// run returns the end of the longest run from text[i:] of characters in set.
func (t *classTable) run(text string, i int, set uint) int {
	for i < len(text) {
		c, size := t.at(text, i)
		if !c.in(set) {
			break
		}
		i += size
	}
	return i
}
