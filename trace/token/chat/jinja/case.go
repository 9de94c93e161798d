package jinja

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// upper and lower are Python's: with the special casing of Unicode, in which ß
// becomes SS and a final sigma has a form of its own.
func upper(v string) string {
	if isASCII(v) {
		return strings.ToUpper(v)
	}
	return cases.Upper(language.Und).String(v)
}

func lower(v string) string {
	if isASCII(v) {
		return strings.ToLower(v)
	}
	return cases.Lower(language.Und).String(v)
}

func isASCII(v string) bool {
	for i := range len(v) {
		if v[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
