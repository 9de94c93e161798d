package token

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"reprise/trace/token/class"
)

// addedToken is an entry of added_tokens in tokenizer.json: text that is found
// before the model sees it.
type addedToken struct {
	Content    string `json:"content"`
	ID         int    `json:"id"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// addedMatcher finds added tokens in text: the leftmost, of those that begin
// there the longest.
type addedMatcher struct {
	tokens []addedToken
	// A trie over bytes. The children of a node are its entries in next.
	next  map[uint32]int32 // node<<8 | byte -> node
	token []int32          // of a node, or -1
	first [256]bool
	one   byte // the only first byte, where there is one
	count int  // of first bytes
}

func newAddedMatcher() *addedMatcher {
	return &addedMatcher{next: map[uint32]int32{}, token: []int32{-1}}
}

// add makes text stand for token t; of two with one text the first holds.
func (m *addedMatcher) add(text string, t addedToken) {
	if text == "" {
		return
	}
	node := int32(0)
	for i := range len(text) {
		key := uint32(node)<<8 | uint32(text[i])
		child, ok := m.next[key]
		if !ok {
			child = int32(len(m.token))
			m.next[key] = child
			m.token = append(m.token, -1)
		}
		node = child
	}
	if m.token[node] < 0 {
		m.token[node] = int32(len(m.tokens))
		m.tokens = append(m.tokens, t)
	}
	if !m.first[text[0]] {
		m.first[text[0]] = true
		m.one = text[0]
		m.count++
	}
}

// find returns the first token at or after text[i] and where it stands, or nil.
func (m *addedMatcher) find(text string, i int) (t *addedToken, start, end int) {
	if m.count == 0 {
		return nil, 0, 0
	}
	for ; i < len(text); i++ {
		if m.count == 1 {
			n := strings.IndexByte(text[i:], m.one)
			if n < 0 {
				break
			}
			i += n
		} else if !m.first[text[i]] {
			continue
		}
		if t, end := m.at(text, i); t != nil {
			return t, i, end
		}
	}
	return nil, 0, 0
}

// at returns the longest token that text[i:] begins with.
func (m *addedMatcher) at(text string, i int) (t *addedToken, end int) {
	node := int32(0)
	for k := i; k < len(text); k++ {
		child, ok := m.next[uint32(node)<<8|uint32(text[k])]
		if !ok {
			break
		}
		node = child
		if n := m.token[node]; n >= 0 {
			t, end = &m.tokens[n], k+1
		}
	}
	return t, end
}

// split calls plain for each part of text that is no added token, with its place,
// and found for each that is, in order. It follows find_matches in
// added_vocabulary.rs of huggingface/tokenizers, also where a token that takes
// the space after it overlaps the next one.
func (m *addedMatcher) split(t *class.Table, text string, plain func(part string, at int), found func(id int32)) {
	done, white := 0, span{} // white is the last run of white space after a token
	for i := 0; ; {
		tok, start, end := m.find(text, i)
		if tok == nil {
			break
		}
		i = end
		if tok.SingleWord && (endsInWord(t, text[:start]) || beginsWithWord(t, text[end:])) {
			continue
		}
		if tok.LStrip && done < start {
			start = done + len(strings.TrimRightFunc(text[done:start], unicode.IsSpace))
		} else if tok.LStrip {
			start = done
		}
		if tok.RStrip {
			if end < white.start || end >= white.end {
				white = span{end, len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))}
			}
			end = max(end, white.end)
		}
		if done < start {
			plain(text[done:start], done)
		}
		if start < end { // else the token before took it whole
			found(int32(tok.ID))
		}
		done = end
	}
	if done < len(text) {
		plain(text[done:], done)
	}
}

func endsInWord(t *class.Table, s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return size > 0 && isWord(t, r)
}

func beginsWithWord(t *class.Table, s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size > 0 && isWord(t, r)
}

// isWord is \w of Unicode Technical Standard #18: alphabetic characters, marks,
// decimal digits, connectors and the two joiners.
func isWord(t *class.Table, r rune) bool {
	if c := t.Of(r); c.In(class.Letters | 1<<class.Mark) {
		return true
	}
	return unicode.In(r, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
