package token

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// readVocab reads the object of tokens and ids.
func readVocab(raw []byte) (*tokenIndex, error) {
	r := &jsonReader{data: raw}
	x := newTokenIndex(min(bytes.Count(raw, []byte{':'}), 1<<19), min(len(raw)/3, 8<<20))
	err := r.object(func(token []byte) error {
		if len(x.ids) >= maxTokenID {
			return errors.New("vocab: too many tokens")
		}
		id, err := r.uint(maxTokenID)
		if err != nil {
			return fmt.Errorf("vocab: %w", err)
		}
		x.put(token, int32(id))
		return nil
	})
	return x, err
}

// vocabModel is a model under construction.
type vocabModel struct {
	*bpeModel
	filter *cutFilter  // of a byte alphabet
	index  *tokenIndex // tokens as written in the file
	cuts   *spCuts     // nil for a byte alphabet
	glued  bool        // a merge takes a byte token or the unknown token
}

// newVocabModel builds the model; byteLevel tells that texts reach it in the byte
// alphabet.
func newVocabModel(f *hfFile, byteLevel bool) (*vocabModel, error) {
	index, err := readVocab(f.vocab)
	if err != nil {
		return nil, err
	}
	m := &vocabModel{index: index, bpeModel: &bpeModel{
		wholeFirst: f.model.IgnoreMerges, fuseUnk: f.model.FuseUnk, unk: -1,
	}}
	for b := range m.fallback {
		m.fallback[b] = -1
		if f.model.ByteFallback {
			if id, ok := index.find(fmt.Appendf(nil, "<0x%02X>", b)); ok {
				m.fallback[b] = id
			}
		}
	}
	if u := f.model.UnkToken; u != nil {
		if id, ok := index.find([]byte(*u)); ok {
			m.unk = id
		}
	}
	if byteLevel {
		m.byteAlphabet()
	} else {
		m.characters()
	}
	if err := m.readMerges(f.merges); err != nil {
		return nil, err
	}
	if m.cuts != nil {
		m.cuts.finish(m.glued)
	}
	return m, nil
}

// byteAlphabet finds the tokens of the single bytes and, where pieces are looked
// up whole, turns all tokens into the bytes that they stand for.
func (m *vocabModel) byteAlphabet() {
	m.bytes = new([256]int32)
	for b := range 256 {
		m.bytes[b] = -1
		if id, ok := m.index.find([]byte(string(byteRune(byte(b))))); ok {
			m.bytes[b] = id
		}
	}
	if !m.wholeFirst {
		m.filter = newCutFilter(m.index.asBytes)
		return
	}
	// No cuts here: a part must not be looked up as if it were a whole piece,
	// since not every token is what its bytes merge to.
	m.whole = newTokenIndex(len(m.index.ids), len(m.index.text))
	for token, id := range m.index.asBytes {
		m.whole.put(token, id)
	}
}

// asBytes yields the tokens that are written in the byte alphabet, as the bytes
// that they stand for, with their ids.
func (x *tokenIndex) asBytes(yield func(token []byte, id int32) bool) {
	back := runeBytes()
	var buf []byte
	for i, id := range x.ids {
		buf = buf[:0]
		ok := true
		for _, r := range string(x.entry(i)) {
			b, is := back[r]
			buf, ok = append(buf, b), ok && is
		}
		if ok && len(buf) > 0 && !yield(buf, id) {
			return
		}
	}
}

// characters finds the tokens of single characters.
func (m *vocabModel) characters() {
	x := m.index
	for i := range x.ids {
		token := x.entry(i)
		if r, size := utf8.DecodeRune(token); size == len(token) && size > 0 {
			m.runes.put(r, x.ids[i])
		}
	}
	if m.wholeFirst {
		m.whole = x
	}
	m.cuts = newSPCuts(m.bpeModel)
}

// readMerges reads the list of merges: ["a","b"] or "a b" each, in order of rank.
func (m *vocabModel) readMerges(raw []byte) error {
	r := &jsonReader{data: raw}
	m.merges = newMergeTable(min(bytes.Count(raw, []byte{','})/2+16, 1<<20))
	special := map[int32]bool{m.unk: m.unk >= 0}
	for _, id := range m.fallback {
		special[id] = id >= 0
	}
	made := make(map[int32]bool)
	var joined []byte
	rank := 0
	return r.array(func() error {
		var cut int
		var err error
		if joined, cut, err = readMerge(r, joined[:0]); err != nil {
			return fmt.Errorf("merges: entry %d: %w", rank, err)
		}
		if cut < 0 {
			return nil
		}
		if rank >= maxMerges {
			return errors.New("merges: too many")
		}
		left, okL := m.index.find(joined[:cut])
		right, okR := m.index.find(joined[cut:])
		id, ok := m.index.find(joined)
		if !ok || !okL || !okR {
			return fmt.Errorf("merges: entry %d: a part or the result is not in vocab", rank)
		}
		m.merges.put(left, right, uint32(rank), id)
		m.glued = m.glued || special[left] || special[right]
		if m.cuts != nil && !made[id] {
			made[id] = true
			m.cuts.add(joined)
		}
		rank++
		return nil
	})
}

// readMerge appends one entry to dst, its two halves one after the other, and
// returns where the second begins: negative for the version line of old files.
func readMerge(r *jsonReader, dst []byte) (joined []byte, cut int, err error) {
	if r.peek() == '[' {
		n := 0
		err := r.array(func() error {
			if n++; n == 2 {
				cut = len(dst)
			}
			var err error
			dst, err = r.str(dst)
			return err
		})
		if err == nil && n != 2 {
			err = errors.New("want two tokens")
		}
		return dst, cut, err
	}
	if dst, err = r.str(dst); err != nil {
		return dst, 0, err
	}
	if bytes.HasPrefix(dst, []byte("#version")) {
		return dst, -1, nil
	}
	if bytes.Count(dst, []byte{' '}) != 1 {
		return dst, 0, errors.New("want two tokens with one space between them")
	}
	cut = bytes.IndexByte(dst, ' ')
	return append(dst[:cut], dst[cut+1:]...), cut, nil
}
