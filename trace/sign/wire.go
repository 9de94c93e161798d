package sign

import (
	"encoding/binary"
	"math/big"
)

// wire reads the data types of RFC 4251 section 5. A failed read sticks: what
// follows reads as empty and done reports false.
type wire struct {
	b   []byte
	bad bool
}

// done reports whether every read worked and nothing is left over.
func (w *wire) done() bool { return !w.bad && len(w.b) == 0 }

func (w *wire) take(n uint64) []byte {
	if w.bad || n > uint64(len(w.b)) {
		w.bad = true
		return nil
	}
	out := w.b[:n:n]
	w.b = w.b[n:]
	return out
}

func (w *wire) u8() byte {
	if b := w.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (w *wire) u32() uint32 {
	if b := w.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (w *wire) str() []byte { return w.take(uint64(w.u32())) }

// mpint reads a positive integer in its shortest form; negative, zero and
// padded ones are refused, so that one number has one encoding.
func (w *wire) mpint() *big.Int {
	b := w.str()
	if len(b) == 0 || b[0]&0x80 != 0 || (b[0] == 0 && (len(b) == 1 || b[1]&0x80 == 0)) {
		w.bad = true
		return new(big.Int)
	}
	return new(big.Int).SetBytes(b)
}

// appendString appends s as an SSH string: its length in four bytes, then s.
func appendString[T string | []byte](b []byte, s T) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}
