package token

import (
	"strings"
	"unicode/utf8"
)

// Repair returns text with each maximal part of it that is not UTF-8 replaced
// by U+FFFD, and text itself if it is valid. This is the "maximal subpart"
// practice of the Unicode Standard, section 3.9, and of the WHATWG decoder: a
// truncated character is one replacement, any other bad byte one each. Bytes of
// surrogates are three.
func Repair(text string) string {
	if valid(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			size = badPrefix(text[i:])
		}
		b.WriteRune(r)
		i += size
	}
	return b.String()
}

// badPrefix returns how many bytes at the start of s, which begins no valid
// character, one replacement stands for. Unicode 16.0, table 3-7.
func badPrefix(s string) int {
	more, lo, hi := 0, byte(0x80), byte(0xBF)
	switch c := s[0]; {
	case c >= 0xC2 && c <= 0xDF:
		more = 1
	case c >= 0xE0 && c <= 0xEF:
		more = 2
	case c >= 0xF0 && c <= 0xF4:
		more = 3
	}
	switch s[0] {
	case 0xE0:
		lo = 0xA0
	case 0xED:
		hi = 0x9F
	case 0xF0:
		lo = 0x90
	case 0xF4:
		hi = 0x8F
	}
	n := 1
	for n <= more && n < len(s) && s[n] >= lo && s[n] <= hi {
		lo, hi = 0x80, 0xBF
		n++
	}
	return n
}
