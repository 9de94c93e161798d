package token

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func newText(tb testing.TB, name string, seed uint64) (*Tokenizer, *Text) {
	tb.Helper()
	tok, err := Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	x, err := NewText(tok, seed)
	if err != nil {
		tb.Fatal(err)
	}
	return tok, x
}

// TestWordListFrozen holds the list: replays of old traces need the same words.
func TestWordListFrozen(t *testing.T) {
	const want = "eb662ac5e37356013864557f6d025997c8e44ee6976db58fea3607a044b73b74"
	if got := WordListSHA256(); got != want {
		t.Errorf("the word list is %s, not %s: it must not change", got, want)
	}
	words := strings.Split(strings.TrimSuffix(wordList, "\n"), "\n")
	if len(words) != wordCount || !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != wordCount {
		t.Errorf("%d words, sorted and distinct: %v", len(words), slices.IsSorted(words))
	}
	for _, w := range words {
		if len(w) < 2 || len(w) > 8 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("word %q", w)
		}
		if slices.Contains([]string{"user", "system", "assistant", "tool", "start", "end", "role", "function", "return"}, w) {
			t.Errorf("%q is a word of chat templates", w)
		}
	}
}

// TestTextKnownAnswers has texts that a Python script made from words.txt by the
// formula in AppendBlock's comment, with hashlib and struct.
func TestTextKnownAnswers(t *testing.T) {
	_, x := newText(t, "cl100k_base", 0)
	for _, c := range []struct {
		x     *Text
		block int64
		want  string
	}{
		{x, 0, "failed units routes wheel tones child owns fonts port three standard hen mates sticks required derive scripts alto"},
		{x.WithSeed(42), 7, "forward assets marked"},
		{x.WithSeed(1<<64 - 1), -1, "friends compact ring"},
		{x.WithSeed(42).WithSalt(-5), 7, "trigger run argument"},
	} {
		n := len(strings.Fields(c.want))
		if got := string(c.x.AppendBlock(nil, c.block, n)); got != c.want {
			t.Errorf("block %d: %q, want %q", c.block, got, c.want)
		}
		if got := string(c.x.AppendBlock([]byte("x"), c.block, n)); got != "x "+c.want {
			t.Errorf("block %d after x: %q", c.block, got)
		}
	}
}

// TestPromptTokens makes random trees of prompts and compares what the tokenizer
// sees with what the block ids say.
func TestPromptTokens(t *testing.T) {
	for _, name := range Names() {
		tok, x := newText(t, name, 11)
		rng := rand.New(rand.NewPCG(7, 8))
		next := int32(0)
		type prompt struct {
			blocks []int32
			ids    []int32
		}
		var prompts []prompt
		const size = 16
		for range 150 {
			var blocks []int32
			if len(prompts) > 0 && rng.IntN(3) > 0 {
				old := prompts[rng.IntN(len(prompts))].blocks
				blocks = slices.Clone(old[:rng.IntN(len(old)+1)])
				if k := len(blocks); k > 0 && k == len(old) {
					blocks = blocks[:k-1] // its last block may be partial
				}
			}
			for range 1 + rng.IntN(30) {
				blocks = append(blocks, next)
				next++
			}
			total := len(blocks)*size - rng.IntN(size)
			text, err := x.AppendPrompt(nil, blocks, size, total)
			if err != nil {
				t.Fatal(err)
			}
			ids := tok.Encode(nil, string(text))
			if len(ids) != total || tok.Count(string(text)) != total {
				t.Fatalf("%s: %d tokens, want %d", name, len(ids), total)
			}
			prompts = append(prompts, prompt{blocks, ids})
		}
		byChance := 0
		for i, a := range prompts {
			for _, b := range prompts[:i] {
				k := common(a.blocks, b.blocks)
				if common(a.blocks, b.blocks) == len(a.blocks) || k == len(b.blocks) {
					continue
				}
				got := common(a.ids, b.ids)
				if got < k*size || got > k*size+2 {
					t.Fatalf("%s: %d tokens shared where %d blocks are", name, got, k)
				}
				if got != k*size {
					byChance++
				}
			}
		}
		if byChance > 100 { // of 11,175 pairs, 1 in 2,048 expected
			t.Errorf("%s: %d pairs share a token by chance", name, byChance)
		}
	}
}

func common(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func TestPromptBlockSizes(t *testing.T) {
	tok, x := newText(t, "o200k_base", 5)
	for _, size := range []int{1, 15, 16, 17, 64, 512, 1000} {
		for _, total := range []int{0, 1, 15, 16, 17, 511, 512, 513, 3001} {
			blocks := make([]int32, (total+size-1)/size)
			for i := range blocks {
				blocks[i] = int32(i)
			}
			text, err := x.AppendPrompt([]byte(`{"content":"`), blocks, size, total)
			if err != nil {
				t.Fatal(err)
			}
			if got := tok.Count(strings.TrimPrefix(string(text), `{"content":"`)); got != total {
				t.Errorf("size %d: %d tokens, want %d", size, got, total)
			}
		}
	}
}

func TestPromptErrors(t *testing.T) {
	_, x := newText(t, "cl100k_base", 5)
	for _, c := range []struct {
		blocks      []int32
		size, total int
	}{{nil, 16, 1}, {[]int32{1}, 16, 0}, {[]int32{1}, 16, 17}, {[]int32{1, 2}, 16, 16}, {nil, 0, 0}, {nil, 16, -1}, {[]int32{1}, 1 << 62, -1 << 63}} {
		if _, err := x.AppendPrompt(nil, c.blocks, c.size, c.total); err == nil {
			t.Errorf("%d blocks of %d for %d tokens: no error", len(c.blocks), c.size, c.total)
		}
	}
	if got := x.AppendBlock(nil, 1, -3); len(got) != 0 {
		t.Errorf("a block of -3 words is %q", got)
	}
}

// charEncoder is a tokenizer of characters, of which the letters in fused are
// one token with a space before them.
type charEncoder struct{ whole func(word string) bool }

func (c charEncoder) encode(dst []int32, text string) []int32 {
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && (text[end] != ' ' || end == i) {
			end++
		}
		if w := text[i:end]; c.whole(strings.TrimPrefix(w, " ")) {
			dst = append(dst, 1000)
		} else {
			for j := range len(w) {
				dst = append(dst, int32(w[j])+50*int32(j))
			}
		}
		i = end
	}
	return dst
}

func (c charEncoder) count(text string) int { return len(c.encode(nil, text)) }

// A tokenizer that has a part of the words gets text of that part; one that has
// too few gets token ids.
func TestTextSubset(t *testing.T) {
	short := &Tokenizer{name: "short", enc: charEncoder{func(w string) bool { return len(w) <= 4 }}}
	x, err := NewText(short, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := NewText(short, 1)
	if x.Words() < minWords || x.Words() >= wordCount || x.SHA256() == WordListSHA256() || x.SHA256() != again.SHA256() || x.IDs() {
		t.Errorf("%d words, %s", x.Words(), x.SHA256())
	}
	for _, w := range strings.Fields(string(x.AppendBlock(nil, 3, 500))) {
		if len(w) > 4 {
			t.Errorf("%q is not one token", w)
		}
	}
	if full := must(NewText(must(Open("o200k_base")), 1)); full.Words() != wordCount || full.SHA256() != WordListSHA256() {
		t.Errorf("o200k_base: %d words, %s", full.Words(), full.SHA256())
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestTextIDs(t *testing.T) {
	bytes := &Tokenizer{name: "bytes", enc: charEncoder{func(string) bool { return false }}}
	if _, err := NewText(bytes, 1); !errors.Is(err, ErrWords) {
		t.Fatalf("a tokenizer of single bytes: %v", err)
	}
	x, err := NewIDs(bytes, 1)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int32
	if err := json.Unmarshal([]byte("["+string(x.AppendBlock(nil, 5, 100))+"]"), &ids); err != nil || len(ids) != 100 || !x.IDs() {
		t.Fatal(len(ids), err)
	}
	for _, id := range ids {
		if id <= 0 || id >= 1000 {
			t.Errorf("id %d", id)
		}
	}
	text, err := x.AppendPrompt([]byte("["), []int32{1, 2}, 16, 20)
	if err != nil || strings.Count(string(text), ",") != 19 || text[1] == ',' {
		t.Errorf("%s %v", text, err)
	}
	one := &Tokenizer{name: "one", enc: charEncoder{func(string) bool { return true }}}
	if _, err := NewIDs(one, 1); err == nil {
		t.Error("a tokenizer of one token has ids to draw from")
	}
}

func TestSaltChangesEveryBlock(t *testing.T) {
	_, x := newText(t, "cl100k_base", 9)
	seen := map[string]bool{}
	for salt := range int64(50) {
		for block := range int64(50) {
			seen[string(x.WithSalt(salt).AppendBlock(nil, block, 16))] = true
		}
	}
	if len(seen) != 2500 {
		t.Errorf("%d different blocks, want 2500", len(seen))
	}
}

func BenchmarkPrompt(b *testing.B) {
	_, x := newText(b, "o200k_base", 1)
	blocks := make([]int32, 256)
	for i := range blocks {
		blocks[i] = int32(i)
	}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = x.AppendPrompt(dst[:0], blocks, 16, 4096)
	}
	b.ReportMetric(4096*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtok/s")
}
