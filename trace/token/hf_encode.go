package token

import (
	"fmt"
	"sync"

	"reprise/trace/token/class"
)

// hfTokenizer is a tokenizer.json as huggingface/tokenizers runs it: added
// tokens in the text as written, then the normalizer, added tokens in its
// result, the pre-tokenizer, the model.
type hfTokenizer struct {
	classes    *class.Table
	raw        *addedMatcher // tokens of text as written
	normalized *addedMatcher // tokens of normalized text
	norm       normalizer
	pre        *preTokenizer
	words      *pieces // scans and encodes what the stages of pre leave
	cutters    sync.Pool
}

// newHF builds the tokenizer of a tokenizer.json and notes what a reader of its
// counts should know.
func newHF(data []byte, classes *class.Table) (*hfTokenizer, []string, error) {
	f, err := readHF(data)
	if err != nil {
		return nil, nil, err
	}
	h := &hfTokenizer{classes: classes}
	h.cutters.New = func() any { return new(cutter) }
	if growth(f.normalizer) > maxGrowth {
		return nil, nil, errNeeds("normalizers that lengthen text as much")
	}
	if h.norm, err = newNormalizer(f.normalizer); err != nil {
		return nil, nil, err
	}
	if h.pre, err = newPreTokenizer(f.preTokenizer, classes); err != nil {
		return nil, nil, err
	}
	if h.pre.first && movesStart(f.normalizer) {
		return nil, nil, errNeeds("prepend_scheme first after a normalizer that may move the start of a text")
	}
	m, err := newVocabModel(f, h.pre.byteLevel)
	if err != nil {
		return nil, nil, err
	}
	scan := h.pre.scan
	switch {
	case m.cuts != nil && scan == nil && !m.wholeFirst:
		scan = m.cuts.scan
	case scan == nil:
		scan = wholeText
	}
	h.words = newPieces(pieceModel{
		classes: classes, scan: scan, masks: h.pre.masks, cuts: m.filter,
		merger: func() pieceMerger { return &bpeMerger{model: m.bpeModel} },
	})
	notes, err := h.addTokens(f.added, m.index)
	if err != nil {
		return nil, nil, err
	}
	notes = append(h.pre.notes, notes...)
	if len(f.truncation) > 0 {
		notes = append(notes, "the file asks to truncate texts; texts are counted whole")
	}
	return h, notes, nil
}

func wholeText(_ *class.Table, text string, _ int) int { return len(text) }

// addTokens fills the matchers. As in the reference a token has the id of the
// vocabulary if it stands there, else the next after as many as the vocabulary
// has tokens: the id that is written with it counts for nothing.
func (h *hfTokenizer) addTokens(added []addedToken, index *tokenIndex) (notes []string, err error) {
	h.raw, h.normalized = newAddedMatcher(), newAddedMatcher()
	ids := map[string]int{}
	next, differ := len(index.ids), 0
	for _, t := range added {
		if t.Content == "" {
			continue
		}
		id, known := index.find([]byte(t.Content))
		if was, again := ids[t.Content]; again {
			id, known = int32(was), true
		}
		if !known {
			id = int32(next)
			next++
		}
		if int(id) != t.ID {
			differ++
		}
		t.ID = int(id)
		ids[t.Content] = t.ID
		if !t.Normalized {
			h.raw.add(t.Content, t)
			continue
		}
		content := t.Content
		if h.norm != nil {
			content = h.norm(content)
		}
		if content == "" {
			return nil, errNeeds("an added token of which normalizing leaves nothing")
		}
		h.normalized.add(content, t)
	}
	if differ > 0 {
		notes = append(notes, fmt.Sprintf("%d added tokens have another id than the file states, as in the reference", differ))
	}
	return notes, nil
}

// encode implements encoder.
func (h *hfTokenizer) encode(dst []int32, text string) []int32 { return h.encodeAt(dst, text, 0) }

// encodeAt appends the ids of a part of a text that begins at a place of it,
// after an added token.
func (h *hfTokenizer) encodeAt(dst []int32, text string, base int) []int32 {
	h.walk(text, base, func(piece string) { dst = h.words.encode(dst, piece) }, func(id int32) { dst = append(dst, id) })
	return dst
}

// count implements encoder.
func (h *hfTokenizer) count(text string) int {
	n := 0
	h.walk(text, 0, func(piece string) { n += h.words.count(piece) }, func(int32) { n++ })
	return n
}

// walk calls word for each text that the model's scanner takes and token for
// each added token, in order. base is where text begins in the whole.
func (h *hfTokenizer) walk(text string, base int, word func(piece string), token func(id int32)) {
	w := h.cutters.Get().(*cutter)
	h.raw.split(h.classes, text, func(part string, at int) {
		if h.norm != nil {
			part = h.norm(part)
		}
		h.normalized.split(h.classes, part, func(sub string, subAt int) {
			if len(h.pre.stages) == 0 {
				word(sub)
				return
			}
			for _, piece := range h.pre.cut(w, cutPiece{sub, base+at+subAt == 0}) {
				if piece.text != "" {
					word(piece.text)
				}
			}
		}, token)
	}, token)
	if cap(w.pieces)+cap(w.spare) < 1<<14 {
		clear(w.pieces[:cap(w.pieces)]) // keep no customer text alive
		clear(w.spare[:cap(w.spare)])
		h.cutters.Put(w)
	}
}
