package token

import (
	"unicode/utf8"

	"reprise/trace/token/class"
)

// spCuts finds where a text of a vocabulary over characters can be taken apart
// without changing its tokens: between two neighbours that stand side by side in
// no token that merging makes. The reference sees the text between two added
// tokens as one word; with the cuts most pieces are words again, so they are short
// and many are alike.
type spCuts struct {
	model *bpeModel
	ascii [128][2]uint64 // bit b of ascii[a]: a and b are neighbours in a token
	// joined holds the pairs of neighbours that are not both ASCII, by open
	// addressing, first<<21 | second; 0 is empty.
	joined []uint64
	used   int
	// bytes: all 256 bytes have tokens that no merge takes, so that what has no
	// token of its own stands alone too.
	bytes bool
}

func newSPCuts(model *bpeModel) *spCuts {
	return &spCuts{model: model, joined: make([]uint64, 1<<12)}
}

// add reads the neighbours off a token that a merge makes.
func (c *spCuts) add(token []byte) {
	before := rune(-1)
	for len(token) > 0 {
		r, size := utf8.DecodeRune(token)
		if before >= 0 {
			c.join(before, r)
		}
		before, token = r, token[size:]
	}
}

// finish is told whether a merge takes a byte token or the unknown token.
func (c *spCuts) finish(glued bool) {
	c.bytes = !glued
	for _, id := range c.model.fallback {
		c.bytes = c.bytes && id >= 0
	}
}

func (c *spCuts) join(a, b rune) {
	if a < 128 && b < 128 {
		c.ascii[a][b/64] |= 1 << (b % 64)
		return
	}
	if 2*(c.used+1) > len(c.joined) {
		old := c.joined
		c.joined, c.used = make([]uint64, 2*len(old)), 0
		for _, k := range old {
			if k != 0 {
				c.set(k)
			}
		}
	}
	c.set(uint64(a)<<21 | uint64(b))
}

func (c *spCuts) set(key uint64) {
	i := c.slot(key)
	if c.joined[i] == 0 {
		c.used++
	}
	c.joined[i] = key
}

func (c *spCuts) slot(key uint64) uint64 {
	h := key * 0x9E3779B97F4A7C15
	i := (h ^ h>>32) & uint64(len(c.joined)-1)
	for c.joined[i] != 0 && c.joined[i] != key {
		i = (i + 1) & uint64(len(c.joined)-1)
	}
	return i
}

func (c *spCuts) together(a, b rune) bool {
	if a < 128 && b < 128 {
		return c.ascii[a][b/64]>>(b%64)&1 != 0
	}
	return c.joined[c.slot(uint64(a)<<21|uint64(b))] != 0
}

// scan is a scanner: the end of the piece at text[i:], up to the next cut.
func (c *spCuts) scan(_ *class.Table, text string, i int) int {
	a, size := utf8.DecodeRuneInString(text[i:])
	for i += size; i < len(text); i += size {
		var b rune
		if b = rune(text[i]); b < utf8.RuneSelf {
			size = 1
		} else {
			b, size = utf8.DecodeRuneInString(text[i:])
		}
		if !c.together(a, b) && (c.bytes || c.model.runes.get(a) >= 0 && c.model.runes.get(b) >= 0) {
			return i
		}
		a = b
	}
	return i
}
