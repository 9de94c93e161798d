package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// str is Python's str().
func (s *state) str(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case markup:
		return string(x)
	case undefined:
		return ""
	}
	var b strings.Builder
	s.repr(&b, v)
	s.made(b.Len())
	return b.String()
}

// repr is Python's repr().
func (s *state) repr(b *strings.Builder, v any) {
	defer s.deeper()()
	s.step(1)
	switch x := bare(v).(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(pythonBool(x))
	case int64:
		b.WriteString(strconv.FormatInt(x, 10))
	case float64:
		b.WriteString(pythonFloat(x))
	case string:
		reprString(b, x)
	case undefined:
		b.WriteString("Undefined")
	case *List:
		if x.once {
			s.fail("%s cannot be printed", typeName(v))
		}
		open, end := "[", "]"
		if x.Tuple {
			open, end = "(", ")"
			if len(x.Items) == 1 {
				end = ",)"
			}
		}
		b.WriteString(open)
		for i, item := range x.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			s.repr(b, item)
			s.room(b.Len())
		}
		b.WriteString(end)
	case *Dict:
		b.WriteByte('{')
		for i, k := range x.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			s.repr(b, k)
			b.WriteString(": ")
			s.repr(b, x.values[i])
			s.room(b.Len())
		}
		b.WriteByte('}')
	default:
		s.fail("%s cannot be printed", typeName(v))
	}
}

func pythonBool(v bool) string {
	if v {
		return "True"
	}
	return "False"
}

// pythonFloat is Python's repr of a float: shortest digits, with an exponent
// below 1e-4 and from 1e16 on.
func pythonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func reprString(b *strings.Builder, s string) {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	b.WriteByte(quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f || r > 0x7f && !unicode.IsPrint(r):
			switch {
			case r < 0x100:
				fmt.Fprintf(b, `\x%02x`, r)
			case r < 0x10000:
				fmt.Fprintf(b, `\u%04x`, r)
			default:
				fmt.Fprintf(b, `\U%08x`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(quote)
}
