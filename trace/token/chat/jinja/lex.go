package jinja

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	tokEOF        kind = iota
	tokData            // text outside tags
	tokVarBegin        // {{
	tokVarEnd          // }}
	tokBlockBegin      // {%
	tokBlockEnd        // %}
	tokName
	tokString
	tokInt
	tokFloat
	tokOp
)

// lexeme is a token with its place in the source.
type lexeme struct {
	kind kind
	text string
	line int
}

func (t lexeme) isOp(op string) bool     { return t.kind == tokOp && t.text == op }
func (t lexeme) isName(name string) bool { return t.kind == tokName && t.text == name }

// SyntaxError is a template that cannot be parsed.
type SyntaxError struct {
	Line int
	What string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("template line %d: %s", e.Line, e.What) }

// lexer cuts a source into tokens. It fails by panic(*SyntaxError), which Parse
// recovers.
type lexer struct {
	src  string
	at   int
	line int
	out  []lexeme
	// startsLine is true where the last tag ended with a line.
	startsLine bool
}

// lex normalizes line ends, drops one at the end, and cuts the source.
func lex(src string) []lexeme {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	src = strings.ReplaceAll(src, "\r", "\n")
	src = strings.TrimSuffix(src, "\n")
	l := &lexer{src: src, line: 1, startsLine: true}
	for l.at < len(l.src) {
		l.data()
	}
	l.emit(tokEOF, "")
	return l.out
}

func (l *lexer) fail(format string, args ...any) {
	panic(&SyntaxError{Line: l.line, What: fmt.Sprintf(format, args...)})
}

func (l *lexer) emit(k kind, text string) { l.out = append(l.out, lexeme{k, text, l.line}) }

// skip moves on by n bytes and counts lines.
func (l *lexer) skip(n int) {
	l.line += strings.Count(l.src[l.at:l.at+n], "\n")
	l.at += n
}

// data reads text up to the next tag, then the tag.
func (l *lexer) data() {
	rest := l.src[l.at:]
	open := nextTag(rest)
	if open < 0 {
		l.emit(tokData, rest)
		l.skip(len(rest))
		return
	}
	text, sign := rest[:open], byte(0)
	if open+2 < len(rest) && (rest[open+2] == '-' || rest[open+2] == '+') {
		sign = rest[open+2]
	}
	text = l.before(text, sign, rest[open+1] == '{')
	if text != "" {
		l.emit(tokData, text)
	}
	l.skip(open + 2)
	if sign != 0 {
		l.skip(1)
	}
	switch rest[open+1] {
	case '#':
		l.comment()
	case '{':
		l.tag(tokVarBegin, tokVarEnd, "}}")
	default:
		if !l.raw() {
			l.tag(tokBlockBegin, tokBlockEnd, "%}")
		}
	}
}

// nextTag returns where the next {{, {% or {# is.
func nextTag(s string) int {
	for i := 0; i+1 < len(s); i++ {
		j := strings.IndexByte(s[i:], '{')
		if j < 0 || i+j+1 >= len(s) {
			return -1
		}
		if i += j; s[i+1] == '{' || s[i+1] == '%' || s[i+1] == '#' {
			return i
		}
	}
	return -1
}

// before strips text that stands before a tag: all white space before "-", and
// without a sign the blanks between the line's start and a block or comment.
func (l *lexer) before(text string, sign byte, variable bool) string {
	switch {
	case sign == '-':
		return strings.TrimRightFunc(text, unicode.IsSpace)
	case sign == '+' || variable:
		return text
	}
	start := strings.LastIndexByte(text, '\n') + 1
	if (start > 0 || l.startsLine) && strings.TrimSpace(text[start:]) == "" {
		return text[:start]
	}
	return text
}

// closes ends a tag: "-" takes all white space that follows, and block and
// comment take one line end unless "+" keeps it.
func (l *lexer) closes(sign byte, block bool) {
	from := l.at
	switch {
	case sign == '-':
		rest := l.src[l.at:]
		l.skip(len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace)))
	case sign == 0 && block && strings.HasPrefix(l.src[l.at:], "\n"):
		l.skip(1)
	}
	l.startsLine = l.at > from && l.src[l.at-1] == '\n'
}

func (l *lexer) comment() {
	end := strings.Index(l.src[l.at:], "#}")
	if end < 0 {
		l.fail("a comment has no end")
	}
	sign := byte(0)
	if end > 0 && (l.src[l.at+end-1] == '-' || l.src[l.at+end-1] == '+') {
		sign = l.src[l.at+end-1]
	}
	l.skip(end + 2)
	l.closes(sign, true)
}

// raw reads {% raw %}…{% endraw %}, whose content is text.
func (l *lexer) raw() bool {
	begin, sign, ok := rawTag(l.src[l.at:], "raw")
	if !ok {
		return false
	}
	l.skip(begin)
	l.closes(sign, true)
	for from := l.at; ; {
		i := strings.Index(l.src[from:], "{%")
		if i < 0 {
			l.fail("a raw block has no end")
		}
		from += i + 2
		inner, open := from, byte(0)
		if inner < len(l.src) && (l.src[inner] == '-' || l.src[inner] == '+') {
			open = l.src[inner]
			inner++
		}
		n, sign, ok := rawTag(l.src[inner:], "endraw")
		if !ok {
			continue
		}
		if text := l.before(l.src[l.at:from-2], open, false); text != "" {
			l.emit(tokData, text)
		}
		l.skip(inner + n - l.at)
		l.closes(sign, true)
		return true
	}
}

// rawTag matches the rest of a tag that has only a name, and returns its length.
func rawTag(s, name string) (n int, sign byte, ok bool) {
	rest := strings.TrimLeftFunc(s, unicode.IsSpace)
	if !strings.HasPrefix(rest, name) {
		return 0, 0, false
	}
	rest = strings.TrimLeftFunc(rest[len(name):], unicode.IsSpace)
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		sign, rest = rest[0], rest[1:]
	}
	if !strings.HasPrefix(rest, "%}") {
		return 0, 0, false
	}
	return len(s) - len(rest) + 2, sign, true
}

// tag reads the tokens of a tag up to its end; brackets may hold the end's sign.
func (l *lexer) tag(begin, end kind, mark string) {
	l.emit(begin, "")
	var open []byte
	for {
		l.skip(len(l.src[l.at:]) - len(strings.TrimLeftFunc(l.src[l.at:], unicode.IsSpace)))
		rest := l.src[l.at:]
		if rest == "" {
			l.fail("a tag has no end")
		}
		if len(open) == 0 {
			sign, body := byte(0), rest
			if rest[0] == '-' || rest[0] == '+' {
				sign, body = rest[0], rest[1:]
			}
			if strings.HasPrefix(body, mark) {
				l.emit(end, "")
				l.skip(len(rest) - len(body) + 2)
				l.closes(sign, end == tokBlockEnd)
				return
			}
		}
		open = l.inner(rest, open)
	}
}

// inner reads one token inside a tag.
func (l *lexer) inner(rest string, open []byte) []byte {
	c := rest[0]
	switch {
	case c == '\'' || c == '"':
		l.string(rest)
	case c >= '0' && c <= '9':
		l.number(rest)
	case c == '_' || c >= utf8.RuneSelf || isLetter(c):
		n := nameLength(rest)
		if n == 0 {
			l.fail("a character that no token begins with")
		}
		l.emit(tokName, rest[:n])
		l.skip(n)
	default:
		return l.operator(rest, open)
	}
	return open
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func nameLength(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return i
		}
	}
	return len(s)
}

func (l *lexer) operator(rest string, open []byte) []byte {
	op := rest[:1]
	if len(rest) > 1 {
		switch rest[:2] {
		case "//", "**", "==", "!=", ">=", "<=":
			op = rest[:2]
		}
	}
	switch op {
	case "(", "[", "{":
		open = append(open, op[0])
	case ")", "]", "}":
		if len(open) == 0 || pair(open[len(open)-1]) != op[0] {
			l.fail("unexpected %q", op)
		}
		open = open[:len(open)-1]
	case "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", ">", ">=", "<", "<=", "=", ".", ":", "|", ",", ";":
	default:
		l.fail("a character that no token begins with")
	}
	l.emit(tokOp, op)
	l.skip(len(op))
	return open
}

func pair(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// number reads an integer or float; its text is without underscores.
func (l *lexer) number(rest string) {
	digits := func(i int) int {
		for i < len(rest) && (rest[i] >= '0' && rest[i] <= '9' || rest[i] == '_' && i+1 < len(rest) && rest[i+1] >= '0' && rest[i+1] <= '9') {
			i++
		}
		return i
	}
	k, n := tokInt, digits(0)
	if n == 1 && rest[0] == '0' && len(rest) > 2 && strings.IndexByte("xXoObB", rest[1]) >= 0 {
		for n = 2; n < len(rest) && (rest[n] >= '0' && rest[n] <= '9' || rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'f' || rest[n] == '_'); {
			n++
		}
	} else {
		if n+1 < len(rest) && rest[n] == '.' && rest[n+1] >= '0' && rest[n+1] <= '9' {
			k, n = tokFloat, digits(n+1)
		}
		if n < len(rest) && rest[n]|0x20 == 'e' {
			m := n + 1
			if m < len(rest) && (rest[m] == '+' || rest[m] == '-') {
				m++
			}
			if end := digits(m); end > m {
				k, n = tokFloat, end
			}
		}
	}
	l.emit(k, strings.ReplaceAll(rest[:n], "_", ""))
	l.skip(n)
}

// string reads a quoted string.
func (l *lexer) string(rest string) {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case rest[0]:
			l.emit(tokString, unescape(rest[1:i]))
			l.skip(i + 1)
			return
		}
	}
	l.fail("a string has no end")
}

// unescape resolves the escapes of a Python string; unknown ones stay.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte("abfnrtv\\'\"", s[i]); at >= 0 {
			b.WriteByte("\a\b\f\n\r\t\v\\'\""[at])
			continue
		}
		n := escapeDigits(s[i])
		switch r, ok := hexRune(s[i+1:], n); {
		case s[i] == '\n':
		case ok:
			b.WriteRune(r)
			i += n
		case s[i] >= '0' && s[i] <= '7':
			v := rune(0)
			end := min(i+3, len(s))
			for ; i < end && s[i] >= '0' && s[i] <= '7'; i++ {
				v = v*8 + rune(s[i]-'0')
			}
			i--
			b.WriteRune(v)
		default:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// escapeDigits is how many hex digits follow \x, \u and \U.
func escapeDigits(c byte) int {
	switch c {
	case 'x':
		return 2
	case 'u':
		return 4
	case 'U':
		return 8
	}
	return 0
}

func hexRune(s string, n int) (rune, bool) {
	if n == 0 || len(s) < n {
		return 0, false
	}
	var v uint32
	for i := range n {
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if s[i] >= '0' && s[i] <= '9' {
			d = int(s[i] - '0')
		}
		if d < 0 {
			return 0, false
		}
		v = v<<4 | uint32(d)
	}
	return rune(v), v <= unicode.MaxRune
}
