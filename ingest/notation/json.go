package notation

import (
	"strings"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// AppendValue writes a value as JSON. The parser's own writer quotes texts as Go
// does, with escapes such as \x07 that JSON does not have.
func AppendValue(dst []byte, v *fastjson.Value) []byte {
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return AppendString(dst, b)
	case fastjson.TypeArray:
		dst = append(dst, '[')
		for i, e := range v.GetArray() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendValue(dst, e)
		}
		return append(dst, ']')
	case fastjson.TypeObject:
		o, _ := v.Object()
		dst = append(dst, '{')
		first := true
		o.Visit(func(key []byte, v *fastjson.Value) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(AppendString(dst, key), ':')
			dst = AppendValue(dst, v)
		})
		return append(dst, '}')
	}
	return v.MarshalTo(dst) // a number as it stands, true, false or null
}

// AppendString writes a text as a JSON string.
func AppendString[S string | []byte](dst []byte, s S) []byte {
	return append(appendText(append(dst, '"'), s), '"')
}

// appendText writes the inside of a JSON string, with the escapes that most
// writers use.
func appendText[S string | []byte](dst []byte, s S) []byte {
	const digits = "0123456789abcdef"
	const short = "........btn.fr.." // letters for 8 to 13, but 11
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch {
		case c >= ' ':
			dst = append(dst, '\\', c)
		case c < 16 && short[c] != '.':
			dst = append(dst, '\\', short[c])
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(dst, s[from:]...)
}

// String copies text out of a parser's buffer; bytes that are not UTF-8 become
// U+FFFD.
func String(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// Text is a string's text, or the JSON of anything else.
func Text(v *fastjson.Value) string {
	if v.Type() == fastjson.TypeString {
		b, _ := v.StringBytes()
		return String(b)
	}
	return String(AppendValue(nil, v))
}
