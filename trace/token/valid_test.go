package token

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestValid compares with package utf8: every sequence of two bytes and random
// ones of up to five, at every place of a block and around its end.
func TestValid(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	texts, bad := 0, 0
	check := func(around rune, at int, part string) {
		text := strings.Repeat(string(around), at/utf8.RuneLen(around)) + part + strings.Repeat("a", rng.IntN(70))
		texts++
		if !utf8.ValidString(text) {
			bad++
		}
		if valid(text) != utf8.ValidString(text) {
			t.Fatalf("valid(%q) is %v", text, valid(text))
		}
	}
	for a := range 256 {
		for b := range 256 {
			check('a', 25+rng.IntN(50), string([]byte{byte(a), byte(b)}))
		}
	}
	edges := []byte{0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF}
	for range 200000 {
		part := make([]byte, 1+rng.IntN(5))
		for i := range part {
			part[i] = edges[rng.IntN(len(edges))]
		}
		check([]rune{'a', 'é', '中', '👍'}[rng.IntN(4)], rng.IntN(100), string(part))
	}
	for r := range rune(utf8.MaxRune + 1) {
		if r%61 == 0 || r < 0x1000 {
			check('a', 28+int(r)%40, string(r))
		}
	}
	if bad < 1000 || texts-bad < 1000 {
		t.Errorf("%d texts, %d of them bad", texts, bad)
	}
}

func FuzzValid(f *testing.F) {
	for _, s := range scripts() {
		f.Add(s)
	}
	f.Add(strings.Repeat("a", 62) + "\xf0\x9f\x91")
	f.Fuzz(func(t *testing.T, text string) {
		if valid(text) != utf8.ValidString(text) {
			t.Errorf("valid(%q) is %v", text, valid(text))
		}
	})
}
