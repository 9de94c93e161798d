package token

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonReader walks one JSON document without building it: vocabularies hold a
// million strings, of which none needs a string of its own. It checks what it
// walks over; the error says at which byte.
type jsonReader struct {
	data  []byte
	at    int
	depth int
}

const maxJSONDepth = 32

func (r *jsonReader) errorf(format string, args ...any) error {
	return fmt.Errorf("not valid JSON at byte %d: %s", r.at, fmt.Sprintf(format, args...))
}

// peek returns the next byte that is not white space, or 0 at the end.
func (r *jsonReader) peek() byte {
	for r.at < len(r.data) {
		switch c := r.data[r.at]; c {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return c
		}
	}
	return 0
}

// expect consumes the byte c.
func (r *jsonReader) expect(c byte) error {
	if r.peek() != c {
		return r.errorf("want %q", c)
	}
	r.at++
	return nil
}

// object calls field for each key, with the reader at the value, which field
// must consume. The key is valid during the call only.
func (r *jsonReader) object(field func(key []byte) error) error {
	var scratch []byte
	return r.list('{', '}', func() error {
		key, err := r.str(scratch[:0])
		if err != nil {
			return err
		}
		scratch = key
		if err := r.expect(':'); err != nil {
			return err
		}
		return field(key)
	})
}

// array calls element at each element, which it must consume.
func (r *jsonReader) array(element func() error) error { return r.list('[', ']', element) }

func (r *jsonReader) list(open, end byte, element func() error) error {
	if err := r.expect(open); err != nil {
		return err
	}
	if r.depth++; r.depth > maxJSONDepth {
		return r.errorf("nested too deeply")
	}
	defer func() { r.depth-- }()
	if r.peek() == end {
		r.at++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch r.peek() {
		case ',':
			r.at++
		case end:
			r.at++
			return nil
		default:
			return r.errorf("want ',' or %q", end)
		}
	}
}

// str appends the string at the reader to dst, escapes resolved.
func (r *jsonReader) str(dst []byte) ([]byte, error) {
	if err := r.expect('"'); err != nil {
		return dst, err
	}
	for {
		rest := r.data[r.at:]
		n := 0
		for n < len(rest) && rest[n] != '"' && rest[n] != '\\' && rest[n] >= 0x20 {
			n++
		}
		if !utf8.Valid(rest[:n]) {
			return dst, r.errorf("a string is not UTF-8")
		}
		dst = append(dst, rest[:n]...)
		r.at += n
		if n == len(rest) {
			return dst, r.errorf("the file ends within a string")
		}
		switch rest[n] {
		case '"':
			r.at++
			return dst, nil
		case '\\':
			var err error
			if dst, err = r.escape(dst); err != nil {
				return dst, err
			}
		default:
			return dst, r.errorf("control character in a string")
		}
	}
}

// escape resolves the escape at the reader. A lone surrogate is refused: it is
// no character, so a token that holds one could never be met.
func (r *jsonReader) escape(dst []byte) ([]byte, error) {
	if r.at+1 >= len(r.data) {
		return dst, r.errorf("the file ends within a string")
	}
	c := r.data[r.at+1]
	if c != 'u' {
		i := bytes.IndexByte([]byte(`"\/bfnrt`), c)
		if i < 0 {
			return dst, r.errorf("unknown escape in a string")
		}
		r.at += 2
		return append(dst, "\"\\/\b\f\n\r\t"[i]), nil
	}
	v, ok := r.hex4(r.at + 2)
	if !ok {
		return dst, r.errorf("bad \\u escape in a string")
	}
	size := 6
	if utf16.IsSurrogate(v) {
		low, ok := rune(0), false
		if rest := r.data[r.at+size:]; len(rest) >= 2 && rest[0] == '\\' && rest[1] == 'u' {
			low, ok = r.hex4(r.at + 8)
		}
		if v = utf16.DecodeRune(v, low); !ok || v == utf8.RuneError {
			return dst, r.errorf("lone surrogate in a string")
		}
		size = 12
	}
	r.at += size
	return utf8.AppendRune(dst, v), nil
}

func (r *jsonReader) hex4(i int) (rune, bool) {
	if i+4 > len(r.data) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(r.data[i:i+4]), 16, 16)
	return rune(v), err == nil
}

// uint reads a whole number of at most limit.
func (r *jsonReader) uint(limit int) (int, error) {
	r.peek()
	start, v := r.at, 0
	for r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		if v = v*10 + int(r.data[r.at]-'0'); v > limit {
			return 0, fmt.Errorf("number over %d at byte %d", limit, start)
		}
		r.at++
	}
	if r.at == start || r.at-start > 1 && r.data[start] == '0' {
		return 0, r.errorf("want a whole number")
	}
	return v, nil
}

// skip walks over one value and returns its bytes. What is inside strings and
// numbers is not checked: whoever uses the bytes reads them with a full parser.
func (r *jsonReader) skip() ([]byte, error) {
	r.peek()
	start := r.at
	open := 0
	for r.at < len(r.data) {
		switch c := r.data[r.at]; c {
		case '"':
			if err := r.skipString(); err != nil {
				return nil, err
			}
			if open == 0 {
				return r.data[start:r.at], nil
			}
			continue
		case '{', '[':
			if open++; open+r.depth > maxJSONDepth {
				return nil, r.errorf("nested too deeply")
			}
		case '}', ']', ',', ' ', '\t', '\n', '\r':
			if open == 0 { // the end of a bare word or number
				if r.at == start {
					return nil, r.errorf("want a value")
				}
				return r.data[start:r.at], nil
			}
			if c == '}' || c == ']' {
				if open--; open == 0 {
					r.at++
					return r.data[start:r.at], nil
				}
			}
		}
		r.at++
	}
	return nil, r.errorf("the file ends within a value")
}

func (r *jsonReader) skipString() error {
	r.at++
	for {
		n := bytes.IndexByte(r.data[r.at:], '"')
		if n < 0 {
			return r.errorf("the file ends within a string")
		}
		end := r.at + n
		slashes := 0
		for end-slashes > r.at && r.data[end-1-slashes] == '\\' {
			slashes++
		}
		r.at = end + 1
		if slashes%2 == 0 {
			return nil
		}
	}
}
