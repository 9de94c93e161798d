package token

import (
	"unicode/utf8"

	"reprise/trace/token/class"
)

// bpeModel is a byte-pair vocabulary as tokenizer.json has it: any list of
// merges over any alphabet, bytes or characters.
type bpeModel struct {
	merges *mergeTable
	whole  *tokenIndex // every token by its bytes
	// wholeFirst: a piece that is a token is that token, whatever merging gives.
	wholeFirst bool

	bytes *[256]int32 // initial tokens of the byte alphabet, -1 where missing; nil for characters
	runes runeTable   // initial tokens of characters

	fallback [256]int32 // tokens "<0x00>" to "<0xFF>", -1 where missing
	unk      int32      // -1: what has no token is left out
	fuseUnk  bool
}

// runeTable maps characters to tokens, page by page; absent is -1.
type runeTable struct {
	page [class.MaxRunes >> 8]*[256]int32
}

func (t *runeTable) put(r rune, id int32) {
	p := t.page[r>>8]
	if p == nil {
		p = new([256]int32)
		for i := range p {
			p[i] = -1
		}
		t.page[r>>8] = p
	}
	p[r&255] = id
}

func (t *runeTable) get(r rune) int32 {
	if p := t.page[r>>8]; p != nil {
		return p[r&255]
	}
	return -1
}

// bpeMerger encodes pieces for one worker.
type bpeMerger struct {
	model *bpeModel
	j     joiner
	pend  int32 // unknown token not yet in the list, or -1
}

// mergePiece implements pieceMerger.
func (m *bpeMerger) mergePiece(dst []int32, piece string) []int32 {
	if m.model.wholeFirst {
		if id, ok := m.model.whole.findString(piece); ok {
			return append(dst, id)
		}
	}
	m.j.sym, m.pend = m.j.sym[:0], -1
	if m.model.bytes != nil {
		m.byteSymbols(piece)
	} else {
		m.runeSymbols(piece)
	}
	if m.pend >= 0 {
		m.j.sym = append(m.j.sym, m.pend)
	}
	if len(m.j.sym) == 0 {
		return dst
	}
	return m.j.join(dst, m.model.merges)
}

func (m *bpeMerger) byteSymbols(piece string) {
	for i := range len(piece) {
		id := m.model.bytes[piece[i]]
		if id < 0 {
			m.unknown(string(byteRune(piece[i])))
			continue
		}
		m.known(id)
	}
}

func (m *bpeMerger) runeSymbols(piece string) {
	for i := 0; i < len(piece); {
		r, size := utf8.DecodeRuneInString(piece[i:])
		if id := m.model.runes.get(r); id >= 0 {
			m.known(id)
		} else {
			m.unknown(piece[i : i+size])
		}
		i += size
	}
}

func (m *bpeMerger) known(id int32) {
	if m.pend >= 0 {
		m.j.sym = append(m.j.sym, m.pend)
		m.pend = -1
	}
	m.j.sym = append(m.j.sym, id)
}

// unknown adds a character that is no token: its bytes, where all have tokens;
// else the unknown token, one for a run if they are fused. As in the reference,
// bytes do not end such a run.
func (m *bpeMerger) unknown(char string) {
	all := true
	for i := range len(char) {
		all = all && m.model.fallback[char[i]] >= 0
	}
	switch {
	case all:
		for i := range len(char) {
			m.j.sym = append(m.j.sym, m.model.fallback[char[i]])
		}
	case m.model.unk >= 0:
		if m.pend >= 0 && !m.model.fuseUnk {
			m.j.sym = append(m.j.sym, m.pend)
		}
		m.pend = m.model.unk
	}
}

// mergeMisses implements pieceMerger.
func (m *bpeMerger) mergeMisses(dst []int32, text []byte, queue []miss) []int32 {
	for i := range queue {
		q := &queue[i]
		q.ids = uint32(len(dst))
		dst = m.mergePiece(dst, stringOf(text[q.start:][:q.size]))
		q.n = uint32(len(dst)) - q.ids
	}
	return dst
}

// tooBig implements pieceMerger.
func (m *bpeMerger) tooBig() bool { return m.j.tooBig() }

// byteRune is the character that stands for byte b in byte-level vocabularies:
// itself if it is printable, else one from U+0100 on (encoder.py of openai/gpt-2).
func byteRune(b byte) rune {
	switch {
	case b >= '!' && b <= '~', b >= 0xA1 && b <= 0xAC, b >= 0xAE:
		return rune(b)
	case b <= ' ':
		return 0x100 + rune(b)
	case b <= 0xA0:
		return 0x100 + 33 + rune(b) - 0x7F
	}
	return 0x100 + 67
}

// runeBytes returns the inverse of byteRune.
func runeBytes() map[rune]byte {
	m := make(map[rune]byte, 256)
	for b := range 256 {
		m[byteRune(byte(b))] = byte(b)
	}
	return m
}
