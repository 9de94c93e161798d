package token

import (
	"errors"
	"fmt"

	"reprise/trace/token/class"
	"reprise/trace/token/regex"
)

// rankList is a vocabulary in the manner of tiktoken: two neighbours merge where
// their bytes together are a token, the lowest rank first.
type rankList struct {
	index *tokenIndex // ranks by bytes
	shift int32       // id = rank + shift
}

func newRankList(n, size int) *rankList { return &rankList{index: newTokenIndex(n, size)} }

// add sets the rank of a token.
func (l *rankList) add(token []byte, rank int) error {
	if len(token) == 0 {
		return errors.New("a token is empty")
	}
	if len(token) > maxRankToken {
		return fmt.Errorf("a token of %d bytes, over %d", len(token), maxRankToken)
	}
	if _, twice := l.index.find(token); twice {
		return errors.New("a token stands twice")
	}
	if len(l.index.ids) >= maxTokenID {
		return errors.New("too many tokens")
	}
	l.index.put(token, int32(rank))
	return nil
}

// model builds the merges: every way of making a token from two.
func (l *rankList) model() (*bpeModel, error) {
	x := l.index
	m := &bpeModel{merges: newMergeTable(2 * len(x.ids)), whole: x, wholeFirst: true, bytes: new([256]int32), unk: -1}
	for b := range 256 {
		id, ok := x.find([]byte{byte(b)})
		if !ok {
			return nil, fmt.Errorf("has no token for the byte 0x%02X", b)
		}
		m.bytes[b] = id + l.shift
	}
	ranks := make(map[int32]bool, len(x.ids))
	for i, rank := range x.ids {
		if ranks[rank] {
			return nil, fmt.Errorf("rank %d stands twice", rank)
		}
		ranks[rank] = true
		token := x.entry(i)
		for cut := 1; cut < len(token); cut++ {
			left, ok := x.find(token[:cut])
			if !ok {
				continue
			}
			if right, ok := x.find(token[cut:]); ok {
				m.merges.put(left+l.shift, right+l.shift, uint32(rank), rank+l.shift)
			}
		}
	}
	for i := range x.ids {
		x.ids[i] += l.shift
	}
	return m, nil
}

// rankEncoder is the encoder of a rank vocabulary with a pattern: special tokens
// are never parsed from text, and what the pattern does not match is left out.
func rankEncoder(l *rankList, pattern string, classes *class.Table) (encoder, []string, error) {
	m, err := l.model()
	if err != nil {
		return nil, nil, err
	}
	scan, known := knownPattern(pattern)
	if !known {
		scan = wholeText
	}
	words := newPieces(pieceModel{
		classes: classes, scan: scan, masks: knownMasks(pattern), merger: func() pieceMerger { return &bpeMerger{model: m} },
		cuts: newCutFilter(m.whole.all),
	})
	if known {
		return words, nil, nil
	}
	re, err := regex.Compile(pattern, classes)
	if err != nil {
		return nil, nil, fmt.Errorf("pattern: %w", err)
	}
	return &matchEncoder{re, words}, []string{re.Note()}, nil
}

// all yields every token and its id.
func (x *tokenIndex) all(yield func(token []byte, id int32) bool) {
	for i, id := range x.ids {
		if !yield(x.entry(i), id) {
			return
		}
	}
}

// matchEncoder encodes the matches of an interpreted pattern.
type matchEncoder struct {
	re    *regex.Regex
	words *pieces
}

func (e *matchEncoder) encode(dst []int32, text string) []int32 {
	for start, end := range e.re.All(text) {
		dst = e.words.encode(dst, text[start:end])
	}
	return dst
}

func (e *matchEncoder) count(text string) int {
	n := 0
	for start, end := range e.re.All(text) {
		n += e.words.count(text[start:end])
	}
	return n
}

// normEncoder normalizes text before another encoder.
type normEncoder struct {
	norm normalizer
	encoder
}

func (e *normEncoder) encode(dst []int32, text string) []int32 {
	return e.encoder.encode(dst, e.norm(text))
}

func (e *normEncoder) count(text string) int { return e.encoder.count(e.norm(text)) }
