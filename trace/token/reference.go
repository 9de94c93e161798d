package token

import (
	"fmt"

	"github.com/pkoukk/tiktoken-go"
)

// Reference is tiktoken-go with the vocabulary of an embedded encoding: another
// implementation of the regular expression and of the merges, slow, to check
// counts by. Its merge takes the square of the length of an unbroken run.
type Reference struct{ enc *tiktoken.Tiktoken }

// ReferenceName names the implementation.
const ReferenceName = "tiktoken-go"

// OpenReference opens the reference of an embedded encoding, in about half a
// second of CPU; ok is false for any other tokenizer.
func OpenReference(name string) (r *Reference, ok bool, err error) {
	for _, e := range encodings() {
		if e.name != name {
			continue
		}
		tiktoken.SetBpeLoader(embeddedRanks{e})
		enc, err := tiktoken.GetEncoding(name)
		if err != nil {
			return nil, true, fmt.Errorf("%s: %w", ReferenceName, err)
		}
		return &Reference{enc}, true, nil
	}
	return nil, false, nil
}

// embeddedRanks gives tiktoken-go the embedded ranks whatever file it asks for.
type embeddedRanks struct{ encoding encoding }

// LoadTiktokenBpe implements tiktoken.BpeLoader.
func (l embeddedRanks) LoadTiktokenBpe(string) (map[string]int, error) {
	v, err := unpack(l.encoding.packed, l.encoding.size, l.encoding.sha256)
	if err != nil {
		return nil, err
	}
	ranks := make(map[string]int, v.size())
	for id := range v.size() {
		ranks[string(v.token(id))] = id
	}
	return ranks, nil
}

// Agrees tells whether the reference encodes a text to the same ids.
func (r *Reference) Agrees(t *Tokenizer, text string) bool {
	text = Repair(text)
	want, got := r.enc.EncodeOrdinary(text), t.Encode(nil, text)
	if len(want) != len(got) {
		return false
	}
	for i, id := range got {
		if int(id) != want[i] {
			return false
		}
	}
	return true
}
