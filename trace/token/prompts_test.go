package token

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// promptText is a prompt as a template renders it, of pieces that meet where
// tokens could merge.
func promptText(rng *rand.Rand, specials []string) string {
	pieces := append([]string{"user", "\n\n", "\n", " ", "  leading", "trailing ", "hello world", "日本語", "👩\u200d👧", "\xff", "<|im_", "end|>",
		"1234567", "don't", strings.Repeat("the quick brown fox ", 20), strings.Repeat("a", 300), strings.Repeat("\n", 120)}, specials...)
	var b strings.Builder
	for range 1 + rng.IntN(24) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return b.String()
}

// TestPromptsMemo: the same ids with a memo, without one, with one that is too
// small, and from many goroutines.
func TestPromptsMemo(t *testing.T) {
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var specials []string
		for _, s := range Specials(name) {
			specials = append(specials, s.Text)
		}
		plain := NewPrompts(tok, nil, nil)
		memos := map[string]*Prompts{}
		for _, size := range []int64{0, 256 << 10, 64 << 20} {
			memos[fmt.Sprint(size)] = NewPrompts(tok, nil, NewMemo(size))
		}
		rng := rand.New(rand.NewPCG(1, 7))
		var texts []string
		for range 60 {
			texts = append(texts, promptText(rng, specials))
		}
		texts = append(texts, texts...)
		for size, p := range memos {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for _, text := range texts {
						want, got := plain.Encode([]int32{-1}, text), p.Encode([]int32{-1}, text)
						if !slices.Equal(got, want) {
							t.Errorf("%s, memo of %s bytes: prompts differ", name, size)
							return
						}
						if !slices.Equal(p.EncodeText(nil, text), tok.Encode(nil, text)) {
							t.Errorf("%s, memo of %s bytes: texts differ", name, size)
							return
						}
					}
				})
			}
			wg.Wait()
		}
	}
}

// TestPromptsSpecials has ids of tiktoken 0.14's o200k_harmony and of cl100k_base
// with allowed_special="all".
func TestPromptsSpecials(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []int32
	}{
		{"o200k_base", "<|start|>user<|message|>hello world<|end|><|start|>assistant", []int32{200006, 1428, 200008, 24912, 2375, 200007, 200006, 173781}},
		{"cl100k_base", "<|endoftext|>hello world<|fim_prefix|>", []int32{100257, 15339, 1917, 100258}},
		{"cl100k_base", "", nil},
	} {
		tok, err := Open(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := NewPrompts(tok, nil, NewMemo(1<<20)).Encode(nil, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q is %v, want %v", c.name, c.text, got, c.want)
		}
	}
}

// A special of the caller's is found, the longer of two that begin alike.
func TestPromptsOwnSpecials(t *testing.T) {
	tok, err := Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	p := NewPrompts(tok, []Special{{"<x>", 5000001}, {"<x>>", 5000002}}, nil)
	want := append(append(tok.Encode(nil, "a"), 5000001, 5000002), tok.Encode(nil, "b<x")...)
	if got := p.Encode(nil, "a<x><x>>b<x"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestMemoBounded fills a memo far beyond its size.
func TestMemoBounded(t *testing.T) {
	const size = 2 << 20
	m := NewMemo(size)
	ids := make([]int32, 50)
	for i := range 100_000 {
		m.put(m.of(fmt.Sprint(i), 0), ids)
	}
	bytes, entries := 0, 0
	for i := range m.shards {
		for _, g := range []memoGeneration{m.shards[i].young, m.shards[i].old} {
			bytes += cap(g.data) + memoEntry*len(g.at)
			entries += len(g.at)
		}
	}
	if bytes > size+size/4 || entries < 1000 {
		t.Errorf("%d bytes in %d entries", bytes, entries)
	}
	// What is asked for stays, whatever comes between.
	k := m.of("kept", 0)
	m.put(k, []int32{1, 2, 1<<24 - 1})
	for i := range 100_000 {
		m.put(m.of(fmt.Sprint(i), 1), ids)
		if i%100 == 0 {
			if got, ok := m.get(nil, k); !ok || !slices.Equal(got, []int32{1, 2, 1<<24 - 1}) {
				t.Fatalf("after %d: %v %v", i, got, ok)
			}
		}
	}
	if _, ok := m.get(nil, m.of("kept", 1)); ok {
		t.Error("another kind of text has its ids")
	}
	m.put(m.of("big", 0), []int32{1 << 24})
	if _, ok := m.get(nil, m.of("big", 0)); ok {
		t.Error("an id beyond three bytes was kept")
	}
}

// BenchmarkTurns encodes a log of conversations that send their history again
// with each turn, as agents and chats do: 40 sessions of 12 turns behind one
// system prompt.
func BenchmarkTurns(b *testing.B) {
	var prompts []string
	rng := rand.New(rand.NewPCG(3, 5))
	words := strings.Fields(wordList)
	say := func(n int) string {
		var s strings.Builder
		for range n {
			s.WriteByte(' ')
			s.WriteString(words[rng.IntN(len(words))])
			if rng.IntN(6) == 0 {
				fmt.Fprintf(&s, "%d, %c", rng.IntN(1000), 'a'+rune(rng.IntN(26)))
			}
		}
		return s.String()
	}
	system := say(1500)
	for range 40 {
		history := "<|start|>system<|message|>" + system + "<|end|>"
		for range 12 {
			history += "<|start|>user<|message|>" + say(20+rng.IntN(200)) + "<|end|>"
			prompts = append(prompts, history+"<|start|>assistant")
			history += "<|start|>assistant<|message|>" + say(50+rng.IntN(300)) + "<|end|>"
		}
	}
	rng.Shuffle(len(prompts), func(i, j int) { prompts[i], prompts[j] = prompts[j], prompts[i] })
	size := 0
	for _, p := range prompts {
		size += len(p)
	}
	tok, err := Open("o200k_base")
	if err != nil {
		b.Fatal(err)
	}
	for _, memo := range []bool{false, true} {
		b.Run(fmt.Sprintf("memo=%v", memo), func(b *testing.B) {
			b.SetBytes(int64(size))
			var ids []int32
			for b.Loop() {
				p := NewPrompts(tok, nil, nil)
				if memo {
					p = NewPrompts(tok, nil, NewMemo(64<<20)) // cold in each round
				}
				for _, text := range prompts {
					ids = p.Encode(ids[:0], text)
				}
			}
		})
	}
}
