package token

import (
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// valid tells whether text is UTF-8, as utf8.ValidString does.
func valid(text string) bool {
	const block = 32
	if len(text) < 2*block || !cpu.X86.HasAVX2 {
		return utf8.ValidString(text)
	}
	n := len(text) / block * block
	if !validBlocks(unsafe.StringData(text), n) {
		return false
	}
	rest := n // where the character begins that the last bytes may be a part of
	for i := n - 1; i >= n-3 && text[i] >= 0x80; i-- {
		if text[i] >= 0xC0 {
			rest = i
			break
		}
	}
	return utf8.ValidString(text[rest:])
}

// validBlocks tells whether n bytes, a multiple of 32, are UTF-8 but for a
// character that may be incomplete at their end.
//
//go:noescape
func validBlocks(text *byte, n int) bool
