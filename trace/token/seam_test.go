package token

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRunMatchesHeap compares the two ways to encode long pieces, on pieces of
// few letters, where many tokens overlap, and of random parts of tokens.
func TestRunMatchesHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		v := rankVocab(tok)
		m := &merger{vocab: v}
		for range 6000 {
			piece := runPiece(rng, v)
			want := m.encodeHeap(nil, piece)
			if got := m.encodeRun([]int32{7}, piece); got[0] != 7 || !equal(got[1:], want) {
				t.Fatalf("%s: %q: windows %v, heap %v", name, piece, got[1:], want)
			}
		}
	}
}

// runPiece returns a piece that is hard in one of several ways.
func runPiece(rng *rand.Rand, v *vocabulary) string {
	var b strings.Builder
	switch rng.IntN(4) {
	case 0: // few letters
		letters := []string{"a", "ab", " ", "\n", "=-", "the", "中文", "\xff\x00", "aA", "0", "\t "}[rng.IntN(11)]
		for range 1 + rng.IntN(300) {
			b.WriteByte(letters[rng.IntN(len(letters))])
		}
	case 1: // random bytes
		for range 1 + rng.IntN(100) {
			b.WriteByte(byte(rng.IntN(256)))
		}
	case 2: // parts of tokens
		for range 1 + rng.IntN(30) {
			token := v.token(rng.IntN(v.size()))
			i := rng.IntN(len(token))
			b.Write(token[i : i+1+rng.IntN(len(token)-i)])
		}
	case 3: // two tokens in turn
		x, y := v.token(rng.IntN(v.size())), v.token(rng.IntN(v.size()))
		for range 1 + rng.IntN(20) {
			b.Write(x)
			b.Write(y[:1+rng.IntN(len(y))])
		}
	}
	return b.String()
}

// TestRunIsLinear counts steps: they must stay in proportion to the bytes,
// whatever the piece.
func TestRunIsLinear(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		v := rankVocab(tok)
		m := &merger{vocab: v}
		worst, total, bytes := 0.0, 0, 0
		check := func(piece string) {
			m.steps = 0
			m.encodeRun(nil, piece)
			total += m.steps
			bytes += len(piece)
			if r := float64(m.steps) / float64(len(piece)); len(piece) >= 1000 && r > worst {
				worst = r
				t.Logf("%s: %.1f steps a byte in %.60q", name, r, piece)
			}
		}
		for range 400 {
			piece := runPiece(rng, v)
			check(strings.Repeat(piece, 1+2000/len(piece)))
		}
		for id := 0; id < v.size(); id += 97 { // each token's own repetition, less its last byte
			token := v.token(id)
			if len(token) > 1 {
				token = token[:len(token)-1]
			}
			check(strings.Repeat(string(token), 1+1000/len(token)))
		}
		if worst > 8 {
			t.Errorf("%s: %.1f steps a byte", name, worst)
		}
		t.Logf("%s: %.2f steps a byte over %d bytes", name, float64(total)/float64(bytes), bytes)
	}
}
