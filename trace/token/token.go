package token

import (
	"fmt"
	"strings"
	"sync"
)

// encoding describes one embedded vocabulary.
type encoding struct {
	name   string
	scan   scanner
	packed []byte
	size   int
	// sha256 of the rank file that OpenAI publishes under
	// openaipublic.blob.core.windows.net/encodings/, as openai/tiktoken states it
	// in tiktoken_ext/openai_public.py.
	sha256 string
}

func encodings() []encoding {
	return []encoding{
		{"cl100k_base", scanCL100K, packedCL100K, 100256,
			"223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"},
		{"o200k_base", scanO200K, packedO200K, 199998,
			"446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"},
	}
}

// Names returns the tokenizers that Open knows, sorted.
func Names() []string {
	var names []string
	for _, e := range encodings() {
		names = append(names, e.name)
	}
	return names
}

// Tokenizer turns text into token ids. Any number of goroutines may share it.
type Tokenizer struct {
	name    string
	scan    scanner
	classes *classTable
	vocab   *vocabulary
	mergers sync.Pool // *merger
}

// Open expands the embedded vocabulary of that name and checks it against the
// SHA-256 of the published file. It takes some tens of milliseconds and 8 MB
// (cl100k_base) or 15 MB, so open once and share.
func Open(name string) (*Tokenizer, error) {
	for _, e := range encodings() {
		if e.name != name {
			continue
		}
		classes, err := newClassTable(unicode16)
		if err != nil {
			return nil, fmt.Errorf("tokenizer %s: %w", name, err)
		}
		vocab, err := unpack(e.packed, e.size, e.sha256)
		if err != nil {
			return nil, fmt.Errorf("tokenizer %s: %w", name, err)
		}
		t := &Tokenizer{name: name, scan: e.scan, classes: classes, vocab: vocab}
		t.mergers.New = func() any { return new(merger) }
		return t, nil
	}
	return nil, fmt.Errorf("no tokenizer %q: this version has %s; tokenizer.json files come later", name, strings.Join(Names(), " and "))
}

// Name returns the name that the tokenizer was opened by.
func (t *Tokenizer) Name() string { return t.name }

// SHA256 returns the SHA-256 of the published rank file, in lower-case hex.
func (t *Tokenizer) SHA256() string { return t.vocab.sha256 }

// Encode appends the token ids of text to dst. Special tokens are never parsed
// from text: "<|endoftext|>" is encoded as the characters that it is written
// with. Text that is not UTF-8 is repaired first (see Repair). The time is n log
// n in the length of the longest unbroken run; texts must be under 2 GiB.
func (t *Tokenizer) Encode(dst []int32, text string) []int32 {
	text = Repair(text)
	m := t.mergers.Get().(*merger)
	for i := 0; i < len(text); {
		end := t.scan(t.classes, text, i)
		dst = t.piece(dst, m, text[i:end])
		i = end
	}
	t.release(m)
	return dst
}

// Count returns the number of ids that Encode appends.
func (t *Tokenizer) Count(text string) int {
	text = Repair(text)
	m := t.mergers.Get().(*merger)
	n := 0
	for i := 0; i < len(text); {
		end := t.scan(t.classes, text, i)
		m.out = t.piece(m.out[:0], m, text[i:end])
		n += len(m.out)
		i = end
	}
	t.release(m)
	return n
}

// piece appends the ids of one pre-token.
func (t *Tokenizer) piece(dst []int32, m *merger, piece string) []int32 {
	if id, ok := t.vocab.wholeToken(piece); ok {
		return append(dst, id)
	}
	return m.encode(dst, t.vocab, piece)
}

// release keeps m for the next text, unless a long one has blown it up.
func (t *Tokenizer) release(m *merger) {
	if !m.tooBig() {
		t.mergers.Put(m)
	}
}
