//go:build !amd64

package token

import "unicode/utf8"

// valid tells whether text is UTF-8.
func valid(text string) bool { return utf8.ValidString(text) }
