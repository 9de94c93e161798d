package token

import (
	"errors"
	"fmt"
	"strings"

	"reprise/trace/token/class"
)

// encoding describes one embedded vocabulary.
type encoding struct {
	name   string
	scan   scanner
	masks  *maskRules
	packed []byte
	size   int
	// sha256 of the rank file that OpenAI publishes under
	// openaipublic.blob.core.windows.net/encodings/, as openai/tiktoken states it
	// in tiktoken_ext/openai_public.py.
	sha256 string
}

func encodings() []encoding {
	return []encoding{
		{"cl100k_base", scanCL100K, &maskRules{prefix: true}, packedCL100K, 100256,
			"223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"},
		{"o200k_base", scanO200K, &maskRules{cased: true, suffix: true, slash: true}, packedO200K, 199998,
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
	name  string
	sha   string
	notes []string
	enc   encoder
}

// Open returns the tokenizer of that name: an embedded vocabulary, checked
// against the SHA-256 of the published file, or the path of a tokenizer file or
// of the folder that holds one. After the path of a file of ranks the name of its
// pattern may follow, behind a colon. Open once and share.
func Open(name string) (*Tokenizer, error) {
	for _, e := range encodings() {
		if e.name == name {
			return e.open()
		}
	}
	t, err := openFile(name)
	if !errors.Is(err, errNoFile) {
		return t, err
	}
	return nil, fmt.Errorf("no tokenizer %q: neither %s nor a tokenizer file or folder", name, strings.Join(Names(), ", "))
}

func (e encoding) open() (*Tokenizer, error) {
	classes, err := class.Load()
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", e.name, err)
	}
	vocab, err := unpack(e.packed, e.size, e.sha256)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", e.name, err)
	}
	enc := newPieces(pieceModel{
		classes: classes, scan: e.scan, masks: e.masks,
		cuts:   newCutFilter(vocab.tokens),
		merger: func() pieceMerger { return &merger{vocab: vocab} },
	})
	return &Tokenizer{name: e.name, sha: vocab.sha256, enc: enc}, nil
}

// Name returns the name that the tokenizer was opened by.
func (t *Tokenizer) Name() string { return t.name }

// SHA256 returns the SHA-256 of the vocabulary's file as published, in
// lower-case hex.
func (t *Tokenizer) SHA256() string { return t.sha }

// Notes returns what a reader of counts should know of a tokenizer file, each in
// one line: settings of it that are not followed, a pattern that is interpreted.
func (t *Tokenizer) Notes() []string { return t.notes }

// Encode appends the token ids of text to dst. The special tokens of embedded
// vocabularies and of rank files are never parsed from text: "<|endoftext|>" is
// encoded as the characters that it is written with. The added tokens of a
// tokenizer.json are recognised in text, as its reference does. Text that is not UTF-8 is repaired first (see Repair). Texts must be
// under 2 GiB. The time is linear in the bytes of any text for the embedded
// vocabularies, n log n in the longest unbroken run for those from files.
func (t *Tokenizer) Encode(dst []int32, text string) []int32 {
	return t.enc.encode(dst, Repair(text))
}

// Count returns the number of ids that Encode appends.
func (t *Tokenizer) Count(text string) int { return t.enc.count(Repair(text)) }
