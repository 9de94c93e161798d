package token

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// wordList is frozen: the words of every block, and so the text of every replay,
// follow from it. A change is a new list with a new digest.
//
// Made once from the lower-case words of two to eight letters in SCOWL's American
// list of size 35, kept where the word with and without a space before it is one
// token in cl100k_base, o200k_base, Llama 3.1, Qwen 3, DeepSeek V3 and Gemma 3;
// less names, profanity, religion, violence, bodies, peoples, and words that chat
// templates, special tokens or secret detectors use; of these the 2,048 shortest,
// ties by rank in o200k_base; sorted.
//
//go:embed words.txt
var wordList string

// wordCount is the length of the word list: 11 bits a word.
const wordCount = 2048

// WordListSHA256 returns the digest of the embedded word list, in lower-case hex.
func WordListSHA256() string {
	sum := sha256.Sum256([]byte(wordList))
	return hex.EncodeToString(sum[:])
}

// minWords is how many words of the list a tokenizer must hold for text to be
// made of them: below, blocks that differ would too often begin alike.
const minWords = 512

// ErrWords says that no text of exactly n tokens can be made of the word list
// for a tokenizer: send token ids instead (NewIDs).
var ErrWords = errors.New("too few words of the list are one token each")

// Text makes surrogate text in which every word is one token. It is immutable;
// any number of goroutines may share it. The text holds a-z and single spaces
// only, so it needs no escaping in JSON; a Text of NewIDs makes the elements of a
// JSON list of token ids instead.
type Text struct {
	words  []string
	sha256 string
	seed   uint64
	sep    byte // between words
}

// NewText returns the text source of one seed, made of the words that are one
// token of t, with and without a space before them: all 2,048 for the embedded
// encodings and most others, else those that hold, in the order of the list. It
// has checked that a random text of 4,096 words is 4,096 tokens. The error is
// ErrWords where fewer than 512 words hold, or where words merge.
func NewText(t *Tokenizer, seed uint64) (*Text, error) {
	all := strings.Fields(wordList)
	if len(all) != wordCount {
		return nil, fmt.Errorf("word list: %d words, not %d; rebuild the program", len(all), wordCount)
	}
	x := &Text{seed: seed, sep: ' '}
	hash := sha256.New()
	for _, w := range all {
		if t.Count(w) == 1 && t.Count(" "+w) == 1 {
			x.words = append(x.words, w)
			io.WriteString(hash, w+"\n")
		}
	}
	x.sha256 = hex.EncodeToString(hash.Sum(nil))
	if len(x.words) < minWords {
		return nil, fmt.Errorf("tokenizer %s: %w (%d of %d)", t.Name(), ErrWords, len(x.words), wordCount)
	}
	const n = 4096
	if got := t.Count(string(x.AppendBlock(nil, -1, n))); got != n {
		return nil, fmt.Errorf("tokenizer %s: %w: a text of %d words is %d tokens", t.Name(), ErrWords, n, got)
	}
	return x, nil
}

// minIDs is how few ids a source of ids may have.
const minIDs = 64

// NewIDs returns a source of token ids of one seed, for tokenizers that ErrWords
// is about: the ids that the words of the list are encoded to, which are ordinary
// tokens, in ascending order. Its blocks are decimal ids with commas between.
func NewIDs(t *Tokenizer, seed uint64) (*Text, error) {
	var ids []int32
	for w := range strings.FieldsSeq(wordList) {
		ids = t.Encode(t.Encode(ids, w), " "+w)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) < minIDs {
		return nil, fmt.Errorf("tokenizer %s: the words of the list are only %d different tokens", t.Name(), len(ids))
	}
	x := &Text{seed: seed, sep: ','}
	hash := sha256.New()
	for _, id := range ids {
		x.words = append(x.words, strconv.Itoa(int(id)))
		fmt.Fprintln(hash, id)
	}
	x.sha256 = hex.EncodeToString(hash.Sum(nil))
	return x, nil
}

// IDs tells whether blocks are token ids and not text.
func (x *Text) IDs() bool { return x.sep == ',' }

// Words returns how many words there are to draw from.
func (x *Text) Words() int { return len(x.words) }

// SHA256 returns the digest of the words, each before a line end, in lower-case
// hex: WordListSHA256 where all of the list hold.
func (x *Text) SHA256() string { return x.sha256 }

// WithSeed returns the same source with another seed.
func (x *Text) WithSeed(seed uint64) *Text {
	own := *x
	own.seed = seed
	return &own
}

// WithSalt returns the source whose seed is derived from x's and salt: one salt
// a run makes each run's prompts new to the server's prefix cache, while what
// they share among themselves stays the same. The new seed is the first eight
// bytes of SHA-256("reprise.salt.v1" ‖ seed ‖ salt), all little-endian.
func (x *Text) WithSalt(salt int64) *Text {
	msg := binary.LittleEndian.AppendUint64([]byte("reprise.salt.v1"), x.seed)
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(msg, uint64(salt)))
	return x.WithSeed(binary.LittleEndian.Uint64(sum[:]))
}

// AppendBlock appends the first n words of a block, which are n tokens, each
// after a space (a comma for ids) except at the start of an empty dst.
//
// Word j of a block is number u mod Words() of the list, u the little-endian 16-bit
// integer at byte 2·(j mod 16) of SHA-256("reprise.text.v1" ‖ seed ‖ block ‖ j div
// 16), the three as little-endian 64-bit integers.
func (x *Text) AppendBlock(dst []byte, block int64, n int) []byte {
	return x.appendWords(dst, block, n, len(dst) == 0)
}

// appendWords is AppendBlock with the first space left out where first is true.
func (x *Text) appendWords(dst []byte, block int64, n int, first bool) []byte {
	const tag = "reprise.text.v1"
	var msg [len(tag) + 24]byte
	copy(msg[:], tag)
	binary.LittleEndian.PutUint64(msg[len(tag):], x.seed)
	binary.LittleEndian.PutUint64(msg[len(tag)+8:], uint64(block))
	var sum [sha256.Size]byte
	for j := range n {
		k := j % 16
		if k == 0 {
			binary.LittleEndian.PutUint64(msg[len(tag)+16:], uint64(j/16))
			sum = sha256.Sum256(msg[:])
		}
		if !first {
			dst = append(dst, x.sep)
		}
		first = false
		dst = append(dst, x.words[int(binary.LittleEndian.Uint16(sum[2*k:]))%len(x.words)]...)
	}
	return dst
}

// AppendPrompt appends a text of exactly total tokens: blockTokens words of each
// block in turn, of the last one the remainder, the first word without a space
// whatever dst holds. Prompts that share their first k blocks share exactly
// their first k·blockTokens tokens, but for the chance of 1 in 2,048 that
// different blocks begin with the same word.
//
// It fails unless blocks are as many as total tokens need.
func (x *Text) AppendPrompt(dst []byte, blocks []int32, blockTokens, total int) ([]byte, error) {
	if blockTokens < 1 || total < 0 {
		return dst, fmt.Errorf("prompt of %d tokens in blocks of %d: want at least 0 and 1", total, blockTokens)
	}
	need := total / blockTokens
	if total%blockTokens > 0 {
		need++
	}
	if len(blocks) != need {
		return dst, fmt.Errorf("prompt of %d tokens needs %d blocks of %d tokens, not %d", total, need, blockTokens, len(blocks))
	}
	for i, b := range blocks {
		n := min(blockTokens, total-i*blockTokens)
		dst = x.appendWords(dst, int64(b), n, i == 0)
	}
	return dst, nil
}
