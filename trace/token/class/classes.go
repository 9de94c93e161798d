package class

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// Class is what the pre-tokenizers know of a character. Each character has
// exactly one: the sets of their regular expressions are unions of these.
type Class uint8

// The classes.
const (
	Other    Class = iota // punctuation, symbols, controls, unassigned
	Space                 // White_Space without CR and LF
	Newline               // CR, LF
	Digit                 // N
	Upper                 // Lu, Lt
	Lower                 // Ll
	Caseless              // Lm, Lo
	Mark                  // M
	Count                 // how many there are
)

// Sets of classes, as bits.
const (
	Letters = 1<<Upper | 1<<Lower | 1<<Caseless
	Spaces  = 1<<Space | 1<<Newline
)

// In says that a class is one of a set.
func (c Class) In(set uint) bool { return set>>c&1 != 0 }

// unicode16 holds the classes of all code points as runs in order: a uvarint of
// eight times the length of the run plus its class. Made from General_Category
// and White_Space of the Unicode Character Database 16.0.0, which is what the
// reference tokenizer's tables hold; package unicode has another version, and
// ids must not change with the Go release.
//
//go:embed unicode16.bin
var unicode16 []byte

// MaxRunes is how many code points there are.
const MaxRunes = utf8.MaxRune + 1

// Table maps a code point to its class in two steps.
type Table struct {
	ascii  [utf8.RuneSelf]Class
	page   [MaxRunes >> 8]uint16
	blocks [][256]Class
}

// Load makes the table of Unicode 16.
func Load() (*Table, error) { return parse(unicode16) }

// Of returns the class of a character.
func (t *Table) Of(r rune) Class { return t.blocks[t.page[r>>8]][r&255] }

// parse expands the runs and shares equal blocks of 256 code points.
func parse(runs []byte) (*Table, error) {
	t := new(Table)
	known := map[[256]Class]uint16{}
	var block [256]Class
	at := 0
	for len(runs) > 0 {
		v, n := binary.Uvarint(runs)
		if n <= 0 || v>>3 > uint64(MaxRunes-at) {
			return nil, fmt.Errorf("character classes: damaged table")
		}
		runs = runs[n:]
		for range v >> 3 {
			block[at&255] = Class(v & 7)
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
	if at != MaxRunes {
		return nil, fmt.Errorf("character classes: table ends at %#x", at)
	}
	copy(t.ascii[:], t.blocks[t.page[0]][:])
	return t, nil
}

// At returns the class and size in bytes of the character at text[i], i within
// text; the text is valid UTF-8.
func (t *Table) At(text string, i int) (Class, int) {
	if b := text[i]; b < utf8.RuneSelf {
		return t.ascii[b], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	return t.blocks[t.page[r>>8]][r&255], size
}

// Run returns the end of the longest run from text[i:] of characters in set.
func (t *Table) Run(text string, i int, set uint) int {
	for i < len(text) {
		c, size := t.At(text, i)
		if !c.In(set) {
			break
		}
		i += size
	}
	return i
}
