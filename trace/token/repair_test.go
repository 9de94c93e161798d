package token

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRepair(t *testing.T) {
	// The Unicode Standard 16.0, tables 3-8 to 3-11 (F is U+FFFD), and single cases.
	for in, want := range map[string]string{
		"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82A":        "FFFFFFFFA",
		"\xED\xA0\x80\xED\xBF\xBF\xED\xAFA":        "FFFFFFFFA",
		"\xF4\x91\x92\x93\xFFA\x80\xBFB":           "FFFFFAFFB",
		"\xE1\x80\xE2\xF0\x91\x92\xF1\xBFA":        "FFFFA",
		"a\xF1\x80\x80\xE1\x80\xC2b\x80c\x80\xBFd": "aFFFbFcFFd",
		"":                     "",
		"plain é 中 👍":          "plain é 中 👍",
		"\xff":                 "F",
		"\xe4\xb8":             "F",
		"\xf0\x9f\x91":         "F",
		"\xf0\x9f\x91x":        "Fx",
		"\xf4\x90\x80\x80":     "FFFF",
		"\xf8\x88\x80\x80\x80": "FFFFF",
		"\xef\xbf\xbd\xef\xbf": "FF",
		"中\xe4\xb8中":           "中F中",
	} {
		if got, want := Repair(in), strings.ReplaceAll(want, "F", "\uFFFD"); got != want {
			t.Errorf("%x: %q, want %q", in, got, want)
		}
	}
}

// FuzzRepair checks what any repair must give, and against the decoder of the
// standard library: it makes one replacement of every bad byte, so never fewer.
func FuzzRepair(f *testing.F) {
	f.Add("\xE1\x80\xE2\xF0\x91\x92\xF1\xBFA")
	f.Fuzz(func(t *testing.T, text string) {
		got := Repair(text)
		if !utf8.ValidString(got) || Repair(got) != got {
			t.Fatalf("%x is not repaired: %x", text, got)
		}
		if utf8.ValidString(text) && got != text {
			t.Fatalf("%x was valid", text)
		}
		perRun, perByte := strings.ToValidUTF8(text, "\uFFFD"), string([]rune(text))
		if n := len(got); n < len(perRun) || n > len(perByte) {
			t.Fatalf("%x: %d bytes, want %d to %d", text, n, len(perRun), len(perByte))
		}
		if drop := func(s string) string { return strings.ReplaceAll(s, "\uFFFD", "") }; drop(got) != drop(perRun) {
			t.Fatalf("%x: good characters changed", text)
		}
	})
}
