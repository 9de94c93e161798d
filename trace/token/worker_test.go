package token

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// plain encodes text piece by piece: no masks, no cache, no cuts.
func plain(p *pieces, text string) (ids []int32) {
	m := p.model.merger()
	for at := 0; at < len(text); {
		end := p.model.scan(p.model.classes, text, at)
		ids = m.mergePiece(ids, text[at:end])
		at = end
	}
	return ids
}

// TestCachesNeverChangeIDs encodes documents of all kinds, in an order that mixes
// them and with each cache size on the way, and compares with no cache at all.
func TestCachesNeverChangeIDs(t *testing.T) {
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		p := tok.enc.(*pieces)
		rng := rand.New(rand.NewPCG(51, 52))
		texts := append(fragments(300), corpus(t)...)
		for _, part := range []func(*strings.Builder, *rand.Rand){jsonRecord, chineseSentence, germanSentence, emojiWords, whiteSpace, base64Line} {
			var b strings.Builder
			for b.Len() < 20000 {
				part(&b, rng)
			}
			texts = append(texts, split([]string{b.String()})...)
			texts = append(texts, b.String())
		}
		want := map[string][]int32{}
		for round := range 3 {
			rng.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
			for _, text := range texts {
				text = Repair(text)
				if round == 0 {
					want[text] = plain(p, text)
				}
				if got := tok.Encode(nil, text); !equal(got, want[text]) {
					t.Fatalf("%s: round %d: %.300q is %v, want %v", name, round, text, got, want[text])
				}
				if n := tok.Count(text); n != len(want[text]) {
					t.Fatalf("%s: round %d: count %d, want %d", name, round, n, len(want[text]))
				}
			}
		}
	}
}

// TestCacheAnew fills the cache of short pieces over its bound.
func TestCacheAnew(t *testing.T) {
	tok, err := Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	p := tok.enc.(*pieces)
	w := newPieceWorker(p)
	for len(w.words.slots) < 1<<lastCacheBits {
		w.words.grow()
	}
	rng := rand.New(rand.NewPCG(53, 54))
	resets, used := 0, 0
	var last strings.Builder
	for resets < 2 {
		last.Reset()
		for range 20000 {
			last.WriteByte(' ')
			for range 4 + rng.IntN(4) {
				last.WriteByte(byte('a' + rng.IntN(26)))
			}
		}
		w.ids = w.ids[:0]
		w.run(last.String())
		if w.words.used < used {
			resets++
		}
		used = w.words.used
		if used > len(w.words.slots)*7/8 {
			t.Fatalf("%d of %d entries", used, len(w.words.slots))
		}
	}
	if want := plain(p, last.String()); !equal(w.ids, want) {
		t.Error("ids differ after the cache began anew")
	}
}

// TestSmallTextsSmallTables: a few kilobytes must not pay for the largest tables.
func TestSmallTextsSmallTables(t *testing.T) {
	tok, err := Open("cl100k_base")
	if err != nil {
		t.Fatal(err)
	}
	p := tok.enc.(*pieces)
	tok.Count(strings.Join(scripts(), "\n"))
	w := p.worker()
	if n := len(w.words.slots); n > 1<<(firstCacheBits+cacheStep) {
		t.Errorf("%d entries for a few kilobytes", n)
	}
}

// TestCodePoints compares every character, alone and among others, with the
// scanner and the plain merge.
func TestCodePoints(t *testing.T) {
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		p := tok.enc.(*pieces)
		var b strings.Builder
		for r := rune(0); r <= 0x10FFFF; r++ {
			if r >= 0xD800 && r < 0xE000 || r >= 0x32000 && r < 0xE0000 || r >= 0xF0000 && r%0x1000 > 2 {
				continue // surrogates; planes of one class
			}
			b.WriteString("a" + string(r) + "B \n" + string(r) + string(r) + "1" + string(r) + "'s " + string(r))
			if b.Len() < 8000 {
				continue
			}
			text := b.String()
			b.Reset()
			checkMasks(t, name, p, text)
			if got, want := tok.Encode(nil, text), plain(p, text); !equal(got, want) {
				t.Fatalf("%s: ids differ near %U", name, r)
			}
		}
	}
}

// TestCutsAreSafe encodes pairs of characters of three bytes whole and cut.
func TestCutsAreSafe(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 56))
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		p := tok.enc.(*pieces)
		m, v := p.model.merger(), rankVocab(tok)
		var chars []string // from tokens, which are the likelier to be joined
		for id := range v.size() {
			for _, r := range string(v.token(id)) {
				if r >= 0x800 && r < 0x10000 && r != 0xFFFD {
					chars = append(chars, string(r))
				}
			}
		}
		cut := 0
		for range 100000 {
			a, b := chars[rng.IntN(len(chars))], chars[rng.IntN(len(chars))]
			if rng.IntN(8) == 0 {
				b = string(rune(0x3000 + rng.IntN(0xA000)))
			}
			if !p.model.cuts.safe(threeBytes([]byte(a)), threeBytes([]byte(b))) {
				continue
			}
			cut++
			before, after := chars[rng.IntN(len(chars))], chars[rng.IntN(len(chars))]
			whole := m.mergePiece(nil, before+a+b+after)
			parts := m.mergePiece(m.mergePiece(nil, before+a), b+after)
			if !equal(whole, parts) {
				t.Fatalf("%s: %q %q %q %q: whole %v, cut %v", name, before, a, b, after, whole, parts)
			}
		}
		if cut < 10000 {
			t.Errorf("%s: %d cuts", name, cut)
		}
	}
}
