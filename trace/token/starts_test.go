package token

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// byMasks and byScan cut text without cutting within tokens.
func byMasks(p *pieces, text string) []int {
	model := p.model
	model.cuts = nil
	w := newPieceWorker(newPieces(model))
	buf := append([]byte(text), make([]byte, tailSize+blockSize)...)
	var ends []int
	for at := 0; at < len(text); {
		w.begin(at)
		at = w.advance(buf, at, len(text))
		for _, end := range w.pos[1 : w.k+1] {
			ends = append(ends, int(end))
		}
	}
	return ends
}

func byScan(p *pieces, text string) []int {
	var ends []int
	for at := 0; at < len(text); {
		at = p.model.scan(p.model.classes, text, at)
		ends = append(ends, at)
	}
	return ends
}

func checkMasks(t *testing.T, name string, p *pieces, text string) {
	t.Helper()
	got, want := byMasks(p, text), byScan(p, text)
	if slices.Equal(got, want) {
		return
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			from := 0
			if i > 2 {
				from = want[i-3]
			}
			t.Fatalf("%s: token %d ends at %d by scanner, masks give %v: %q", name, i, want[i], got[max(0, i-2):min(len(got), i+2)], text[from:min(len(text), want[i]+80)])
		}
	}
	t.Fatalf("%s: %d ends, want %d: %.300q", name, len(got), len(want), text)
}

// maskModels returns a model for each pattern that has masks.
func maskModels(tb testing.TB) map[string]*pieces {
	tok, err := Open("cl100k_base")
	if err != nil {
		tb.Fatal(err)
	}
	all := map[string]*pieces{}
	for name, pattern := range map[string]string{"cl100k": patternCL100K, "qwen2": patternQwen2, "o200k": patternO200K} {
		model := tok.enc.(*pieces).model
		scan, ok := knownPattern(pattern)
		model.scan, model.masks = scan, knownMasks(pattern)
		if !ok || model.masks == nil {
			tb.Fatalf("%s has no masks", name)
		}
		all[name] = newPieces(model)
	}
	return all
}

// TestMasksMatchScanner: the scanner is the truth.
func TestMasksMatchScanner(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	parts := maskParts()
	var texts []string
	for range 15000 {
		var b strings.Builder
		few := parts
		if rng.IntN(2) == 0 { // a few kinds only, so that rare neighbours meet often
			at := rng.IntN(len(parts) - 6)
			few = append(slices.Clone(parts[at:at+5]), parts[rng.IntN(len(parts))], parts[rng.IntN(len(parts))])
		}
		for range 1 + rng.IntN(60) {
			b.WriteString(few[rng.IntN(len(few))])
		}
		texts = append(texts, b.String())
	}
	texts = append(texts, corpus(t)...)
	for name, p := range maskModels(t) {
		for _, text := range texts {
			checkMasks(t, name, p, Repair(text))
		}
	}
}

func maskParts() []string {
	return []string{
		"a", "b", "ing", "the", "A", "B", "AB", "Ab", "é", "É", "ß", "д", "Д", "中", "文", "ʰ", "ǅ", "かな", "가", "\u0301", "\ufe0f", "ก", "\u0e31",
		" ", "  ", "\t", "\n", "\r\n", "\n\n", "    ", "\v", "\u00a0", "\u3000", "\u2028", "\u0085",
		"'", "'s", "'S", "'t", "'re", "'LL", "'l", "'ſ", "'ve", "'d", "'rE",
		"1", "23", "456", "½", "٣", "𝟘", ".", "/", "//", "(", "!", "=", "❤", "👍", "，", "\u200d", "\x00", "\x7f", "🇩🇪",
		strings.Repeat("x", 61), strings.Repeat(" ", 62), strings.Repeat("-", 60), strings.Repeat("7", 59), strings.Repeat("\n", 63), strings.Repeat("中", 20), "word word wo", "Camel", "camel",
	}
}

func FuzzMasks(f *testing.F) {
	for _, s := range scripts() {
		f.Add(s)
	}
	all := maskModels(f)
	f.Fuzz(func(t *testing.T, text string) {
		for name, p := range all {
			checkMasks(t, name, p, Repair(text))
		}
	})
}
