package token

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

func TestEncodeKnownIDs(t *testing.T) {
	// Ids of openai/tiktoken, tests/test_encoding.py and the OpenAI cookbook "How
	// to count tokens with tiktoken".
	for _, c := range []struct {
		name, text string
		want       []int32
	}{
		{"cl100k_base", "hello world", []int32{15339, 1917}},
		{"cl100k_base", "tiktoken is great!", []int32{83, 1609, 5963, 374, 2294, 0}},
		{"cl100k_base", "2 + 2 = 4", []int32{17, 489, 220, 17, 284, 220, 19}},
		{"cl100k_base", "お誕生日おめでとう", []int32{33334, 45918, 243, 21990, 9080, 33334, 62004, 16556, 78699}},
		{"cl100k_base", " \u00850", []int32{220, 126, 227, 15}},
		{"o200k_base", "hello world", []int32{24912, 2375}},
		{"o200k_base", "2 + 2 = 4", []int32{17, 659, 220, 17, 314, 220, 19}},
		{"o200k_base", "お誕生日おめでとう", []int32{8930, 9697, 243, 128225, 8930, 17693, 4344, 48669}},
	} {
		tok, err := Open(c.name)
		if err != nil {
			t.Fatal(err)
		}
		got := tok.Encode([]int32{-1}, c.text)
		if got[0] != -1 {
			t.Errorf("Encode overwrote what was in dst")
		}
		if got = got[1:]; !equal(got, c.want) {
			t.Errorf("%s: %q is %v, want %v", c.name, c.text, got, c.want)
		}
	}
}

func equal(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestEncodeMatchesReference compares ids with tiktoken-go, which is slow to open.
func TestEncodeMatchesReference(t *testing.T) {
	pairs := both(t)
	for _, kind := range []struct {
		name  string
		texts []string
	}{{"corpus", corpus(t)}, {"fragments", fragments(4000)}, {"long", longPieces()}} {
		t.Run(kind.name, func(t *testing.T) {
			n := 0
			for _, p := range pairs {
				for _, text := range kind.texts {
					n += len(text)
					p.check(t, text)
				}
			}
			t.Logf("%d texts, %d bytes, no difference", 2*len(kind.texts), n)
		})
	}
}

// fragments glues n texts of pieces that meet where the regular expressions
// backtrack.
func fragments(n int) []string {
	parts := []string{
		" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u2028", "'", "'s", "'LL", "'ſ", "'re", "a", "B", "ab", "AB", "Ab", "aB",
		"the", "中", "文字", "ʰ", "ǅ", "\u0301", "\u0e31", "ก", "1", "234", "½", "٣", ".", "/", "//", "=", "...", "!\n", "é", "ß", "İ",
		"👍", "\u200d", "\ufe0f", "\U0001F1E9", "_", "-", "\\", "\"", "{", "<|endoftext|>", "\x00", "\x7f", "\xff", "\xe4\xb8", "ing", "tion", "http",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range n {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		texts = append(texts, b.String())
	}
	return texts
}

// longPieces crosses the length at which the heap takes over.
func longPieces() []string {
	rng := rand.New(rand.NewPCG(3, 4))
	var texts []string
	for _, letters := range []string{"a", "ab", "abcdefghijklmnopqrstuvwxyz", "=", " ", "\n", "中文字", "\u0301", "-=*"} {
		alphabet := []rune(letters)
		for _, n := range []int{shortPiece - 1, shortPiece, shortPiece + 1, longPiece, longPiece + 1, 700} {
			var b strings.Builder
			for range n {
				b.WriteRune(alphabet[rng.IntN(len(alphabet))])
			}
			texts = append(texts, b.String())
		}
	}
	return texts
}

// TestHeapMatchesScan runs both merge algorithms on pieces that either may take.
func TestHeapMatchesScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		m := merger{vocab: rankVocab(tok)}
		for range 5000 {
			piece := make([]byte, 1+rng.IntN(shortPiece))
			for i := range piece {
				piece[i] = "aeinrst 0=中"[rng.IntN(13)]
			}
			short := m.encodeShort(nil, string(piece))
			long := m.encodeHeap(nil, string(piece))
			if !equal(short, long) {
				t.Fatalf("%s: %q: scan %v, heap %v", name, piece, short, long)
			}
		}
	}
}

// TestEncodeMegabyte would take hours with a quadratic merge.
func TestEncodeMegabyte(t *testing.T) {
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for unit, size := range map[string]int{"a": 1 << 20, " ": 1 << 18, "=": 1 << 18, "\u0301": 1 << 18} {
			text := strings.Repeat(unit, size/len(unit))
			if n := tok.Count(text); n == 0 || n > len(text)/2 {
				t.Errorf("%s: %d bytes of %q are %d tokens", name, size, unit, n)
			}
		}
	}
}

func TestWholeTokensAreMerges(t *testing.T) {
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		m := merger{vocab: rankVocab(tok)}
		for id := range rankVocab(tok).size() {
			piece := string(rankVocab(tok).token(id))
			if got := m.encodeShort(nil, piece); len(got) != 1 || int(got[0]) != id {
				t.Fatalf("%s: token %d merges to %v", name, id, got)
			}
		}
	}
}

func TestEncodeShared(t *testing.T) {
	tok, err := Open("cl100k_base")
	if err != nil {
		t.Fatal(err)
	}
	texts := append(scripts(), strings.Repeat("x", 100_000))
	want := make([][]int32, len(texts))
	for i, s := range texts {
		want[i] = tok.Encode(nil, s)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, s := range texts {
				if !equal(tok.Encode(nil, s), want[i]) || tok.Count(s) != len(want[i]) {
					t.Errorf("text %d differs between goroutines", i)
				}
			}
		})
	}
	wg.Wait()
}

func TestEncodeDoesNotAllocate(t *testing.T) {
	tok, err := Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(scripts(), "\n")
	text = Repair(text)
	dst := tok.Encode(nil, text)
	if n := testing.AllocsPerRun(20, func() { dst = tok.Encode(dst[:0], text); tok.Count(text) }); n > 20 {
		t.Errorf("%v allocations, more than a new merger needs", n)
	}
}

func FuzzEncode(f *testing.F) {
	for _, s := range scripts() {
		f.Add(s)
	}
	f.Add("\xe4\xb8 \xff'\xf0\x9f")
	pairs := both(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			text = text[:2000] // the reference is quadratic
		}
		for _, p := range pairs {
			p.check(t, text)
		}
	})
}
