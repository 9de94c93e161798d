package notation

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxPyDepth is how deep Python values may nest.
const maxPyDepth = 64

// CutMark stands where a server left the middle of a long text out.
const CutMark = "...<truncated>..."

// pyReader turns what Python's repr writes into JSON: literals, collections,
// and calls such as SamplingParams(n=1), which become objects of their
// arguments. A bare name is its own text, nan and inf are null, keys of dicts
// become strings. It takes no code, only values.
type pyReader struct {
	in  string
	at  int
	out []byte
}

// Python appends the JSON of one Python value to dst.
func Python(dst []byte, s string) ([]byte, bool) {
	p := pyReader{in: s, out: dst}
	if !p.value(0) {
		return dst, false
	}
	p.blank()
	return p.out, p.at == len(p.in)
}

// PythonFields appends the JSON object of "name: value, name: value", as log lines
// list them; = may stand for the colon, and a full stop may end the line.
func PythonFields(dst []byte, s string) ([]byte, bool) {
	p := pyReader{in: strings.TrimSuffix(strings.TrimSpace(s), "."), out: append(dst, '{')}
	for n := 0; ; n++ {
		p.blank()
		if p.at == len(p.in) {
			p.out = append(p.out, '}')
			return p.out, true
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		name, ok := p.fieldName()
		if !ok {
			return dst, false
		}
		p.out = append(AppendString(p.out, name), ':')
		if !p.value(0) {
			return dst, false
		}
		p.blank()
		p.take(',')
	}
}

// fieldName reads up to the colon or equals sign: words, blanks between them.
func (p *pyReader) fieldName() (string, bool) {
	end := strings.IndexAny(p.in[p.at:], ":=")
	if end < 1 || end > 60 {
		return "", false
	}
	name := p.in[p.at : p.at+end]
	p.at += end + 1
	return strings.TrimSpace(name), !strings.ContainsAny(name, `'"()[]{},`)
}

func (p *pyReader) blank() {
	for p.at < len(p.in) && strings.IndexByte(" \t\r\n", p.in[p.at]) >= 0 {
		p.at++
	}
}

// take skips c if it comes next.
func (p *pyReader) take(c byte) bool {
	if p.at < len(p.in) && p.in[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *pyReader) peek() byte {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

func (p *pyReader) value(depth int) bool {
	p.blank()
	if depth > maxPyDepth {
		return false
	}
	switch c := p.peek(); {
	case c == '[':
		return p.list(']', depth)
	case c == '(':
		return p.list(')', depth)
	case c == '{':
		return p.braces(depth)
	case c == '<':
		return p.angle()
	case c == '\'' || c == '"':
		return p.text()
	case c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9'):
		return p.number()
	case isNameByte(c):
		return p.named(depth)
	}
	return false
}

// list reads a list or tuple. A list whose middle was left out is null: its
// length is not known.
func (p *pyReader) list(end byte, depth int) bool {
	start := len(p.out)
	p.at++
	p.out = append(p.out, '[')
	for n := 0; ; n++ {
		p.blank()
		if p.take(end) {
			p.out = append(p.out, ']')
			break
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		if !p.value(depth + 1) {
			return false
		}
		p.blank()
		if !p.take(',') && p.peek() != end {
			return false
		}
	}
	if p.cut() {
		if !p.value(depth + 1) {
			return false
		}
		p.out = append(p.out[:start], "null"...)
	}
	return true
}

// cut skips the dots that a server puts between the ends of a long value.
func (p *pyReader) cut() bool {
	if strings.HasPrefix(p.in[p.at:], " ... ") {
		p.at += 5
		return true
	}
	return false
}

// braces reads a dict as an object and a set as an array.
func (p *pyReader) braces(depth int) bool {
	start := len(p.out)
	p.at++
	p.out = append(p.out, '{')
	dict := true
	for n := 0; ; n++ {
		p.blank()
		if p.take('}') {
			break
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		from := len(p.out)
		if !p.value(depth + 1) {
			return false
		}
		p.blank()
		colon := p.take(':')
		if n == 0 {
			dict = colon
		}
		if colon != dict {
			return false
		}
		if dict {
			p.asKey(from)
			p.out = append(p.out, ':')
			if !p.value(depth + 1) {
				return false
			}
			p.blank()
		}
		if !p.take(',') && p.peek() != '}' {
			return false
		}
	}
	if dict {
		p.out = append(p.out, '}')
		return true
	}
	p.out[start] = '['
	p.out = append(p.out, ']')
	return true
}

// asKey makes a JSON string of the value written from there on.
func (p *pyReader) asKey(from int) {
	if p.out[from] != '"' {
		key := string(p.out[from:])
		p.out = AppendString(p.out[:from], key)
	}
}

// angle reads what has no literal, as <Kind.DELTA: 1>, up to the bracket that
// closes it.
func (p *pyReader) angle() bool {
	depth := 0
	for i := p.at; i < len(p.in); i++ {
		switch p.in[i] {
		case '<':
			depth++
		case '>':
			depth--
		}
		if depth == 0 {
			p.out = AppendString(p.out, p.in[p.at+1:i])
			p.at = i + 1
			return true
		}
	}
	return false
}

// number copies a number that JSON has too; Python's others are null.
func (p *pyReader) number() bool {
	start := p.at
	for p.at < len(p.in) && strings.IndexByte("+-.eE_xabcdfinABCDF0123456789", p.in[p.at]) >= 0 {
		p.at++
	}
	s := strings.ReplaceAll(p.in[start:p.at], "_", "")
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && f == 0 {
		return false
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		p.out = strconv.AppendInt(p.out, i, 10)
		return true
	}
	if f-f != 0 { // inf or nan
		p.out = append(p.out, "null"...)
		return true
	}
	p.out = strconv.AppendFloat(p.out, f, 'g', -1, 64)
	return true
}

func isNameByte(c byte) bool {
	return c == '_' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80
}

// named reads a constant, a prefixed string, a call or a bare name.
func (p *pyReader) named(depth int) bool {
	start := p.at
	for p.at < len(p.in) && isNameByte(p.in[p.at]) {
		p.at++
	}
	name := p.in[start:p.at]
	switch c := p.peek(); {
	case c == '(':
		return p.call(depth)
	case (c == '\'' || c == '"') && len(name) <= 2:
		return p.text()
	}
	switch name {
	case "None", "nan", "inf", "null":
		name = "null"
	case "True", "true":
		name = "true"
	case "False", "false":
		name = "false"
	default:
		p.out = AppendString(p.out, name)
		return true
	}
	p.out = append(p.out, name...)
	return true
}

// call reads Name(a, k=v): an object, unnamed arguments under their number.
func (p *pyReader) call(depth int) bool {
	p.at++
	p.out = append(p.out, '{')
	for n := 0; ; n++ {
		p.blank()
		if p.take(')') {
			p.out = append(p.out, '}')
			return true
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		p.out = append(AppendString(p.out, p.argument(n)), ':')
		if !p.value(depth + 1) {
			return false
		}
		p.blank()
		if !p.take(',') && p.peek() != ')' {
			return false
		}
	}
}

// argument reads "name=" if it stands there.
func (p *pyReader) argument(n int) string {
	end := p.at
	for end < len(p.in) && isNameByte(p.in[end]) {
		end++
	}
	if end > p.at && end < len(p.in) && p.in[end] == '=' {
		name := p.in[p.at:end]
		p.at = end + 1
		return name
	}
	return strconv.Itoa(n)
}

// text reads a string, those written after it, and the rest of one whose middle
// was left out.
func (p *pyReader) text() bool {
	p.out = append(p.out, '"')
	for {
		if !p.quoted() {
			return false
		}
		at := p.at
		if p.cut() && (p.peek() == '\'' || p.peek() == '"') {
			p.out = append(p.out, CutMark...)
			continue
		}
		p.at = at
		p.out = append(p.out, '"')
		return true
	}
}

// quoted reads one literal in either kind of quotes into the open JSON string.
func (p *pyReader) quoted() bool {
	quote := p.in[p.at]
	p.at++
	for p.at < len(p.in) {
		// the bytes up to the next quote or backslash are copied at once
		end := strings.IndexAny(p.in[p.at:], string(quote)+`\`)
		if end < 0 {
			return false
		}
		p.out = appendText(p.out, p.in[p.at:p.at+end])
		p.at += end + 1
		if p.in[p.at-1] == quote {
			return true
		}
		if !p.escape() {
			return false
		}
	}
	return false
}

// escape reads what follows a backslash.
func (p *pyReader) escape() bool {
	if p.at == len(p.in) {
		return false
	}
	c := p.in[p.at]
	p.at++
	if i := strings.IndexByte("nrtabfv0", c); i >= 0 && !(c == '0' && p.octal()) {
		p.out = appendText(p.out, "\n\r\t\a\b\f\v\x00"[i:i+1])
		return true
	}
	size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if size == 0 {
		p.out = appendText(p.out, string([]byte{c}))
		return true
	}
	r, ok := p.hex(size)
	if ok && utf16.IsSurrogate(r) && strings.HasPrefix(p.in[p.at:], `\u`) {
		at := p.at
		p.at += 2
		if low, ok := p.hex(4); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			r = utf16.DecodeRune(r, low)
		} else {
			p.at = at
		}
	}
	p.out = appendText(p.out, string(r)) // one half of a pair becomes U+FFFD
	return ok
}

// octal reports whether more digits follow a zero.
func (p *pyReader) octal() bool { return p.peek() >= '0' && p.peek() <= '7' }

func (p *pyReader) hex(n int) (rune, bool) {
	if p.at+n > len(p.in) {
		return 0, false
	}
	v, err := strconv.ParseUint(p.in[p.at:p.at+n], 16, 32)
	p.at += n
	return rune(v), err == nil && v <= utf8.MaxRune
}
