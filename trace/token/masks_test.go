package token

import (
	"math/rand/v2"
	"testing"
)

// masksByByte says what classify must find, byte by byte.
func masksByByte(block *[blockSize]byte) (m masks) {
	for i, b := range block {
		bit := uint64(1) << i
		switch {
		case b >= 'a' && b <= 'z':
			m.lower |= bit
		case b >= 'A' && b <= 'Z':
			m.upper |= bit
		case b >= '0' && b <= '9':
			m.digit |= bit
		case b == '\n' || b == '\r':
			m.newline |= bit
		case b == ' ' || b == '\t' || b == '\v' || b == '\f':
			m.blank |= bit
		case b == '\'':
			m.quote |= bit
		case b >= 0xC0:
			m.lead |= bit
		}
		if b == ' ' {
			m.space |= bit
		}
		if b >= 0x80 {
			m.high |= bit
		}
	}
	return m
}

// TestClassify compares the plain form and the one in use with the definition,
// on every byte at every place and on random blocks.
func TestClassify(t *testing.T) {
	check := func(block *[blockSize]byte) {
		t.Helper()
		want := masksByByte(block)
		got := masks{lower: 1, lead: 1 << 63}
		if classify(&got, block); got != want {
			t.Fatalf("classify: %q is %x, want %x", block[:], got, want)
		}
		if classifyPlain(&got, block); got != want {
			t.Fatalf("classifyPlain: %q is %x, want %x", block[:], got, want)
		}
	}
	rng := rand.New(rand.NewPCG(31, 32))
	for b := range 256 {
		for i := range blockSize {
			var block [blockSize]byte
			for j := range block {
				block[j] = "aZ9 \n'.\xc3"[(i+j)%8]
			}
			block[i] = byte(b)
			check(&block)
		}
	}
	for range 10000 {
		var block [blockSize]byte
		for i := range block {
			block[i] = byte(rng.Uint32())
		}
		check(&block)
	}
}

func BenchmarkClassify(b *testing.B) {
	block := (*[blockSize]byte)([]byte("The quick brown fox; jumps over 12 lazy dogs' tails.\n\nÄ and so on"))
	var m masks
	for _, c := range []struct {
		name string
		f    func(*masks, *[blockSize]byte)
	}{{"used", classify}, {"plain", classifyPlain}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(blockSize)
			for b.Loop() {
				c.f(&m, block)
			}
		})
	}
}
