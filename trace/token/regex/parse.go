package regex

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"reprise/trace/token/class"
)

// A regular expression is compiled to instructions for a machine that tries
// alternatives in order and goes back where one fails, as Oniguruma does.
type opcode uint8

const (
	opSet   opcode = iota // one character of the set
	opSplit               // go on at x; if that fails, at y
	opJump                // go on at x
	opAhead               // the next character is in the set: arg yes, or not or at the end: no
	opDone
)

type instruction struct {
	op   opcode
	want bool // of opAhead
	set  int  // of opSet, opAhead
	x, y int
}

// regexParser reads the part of Oniguruma's syntax that tokenizers use and that
// means the same in every engine; it refuses the rest by name.
type regexParser struct {
	rest    string
	fold    bool // letter case is ignored
	classes *class.Table
	sets    []charSet
	old     bool // a set asks package unicode
	depth   int
}

// node is a part of the expression as instructions with places relative to its
// first. loops tells that it can be repeated without bound inside.
type node struct {
	code []instruction
	// empty tells that it can match the empty string.
	empty bool
}

const (
	maxRegexCode = 4096
	maxNested    = 32 // parentheses
)

// needs is the error of a pattern that asks for what is not here.
func needs(feature string) error {
	return fmt.Errorf("needs %s, which this version does not have", feature)
}

func (p *regexParser) alternation() (node, error) {
	if p.depth++; p.depth > maxNested {
		return node{}, needs("a pattern nested as deeply")
	}
	defer func() { p.depth-- }()
	out, err := p.sequence()
	for err == nil && strings.HasPrefix(p.rest, "|") {
		p.rest = p.rest[1:]
		var b node
		if b, err = p.sequence(); err != nil {
			break
		}
		n := len(out.code)
		code := append([]instruction{{op: opSplit, x: 1, y: n + 2}}, out.code...)
		code = append(code, instruction{op: opJump, x: 1 + len(b.code)})
		out = node{append(code, b.code...), out.empty || b.empty}
		// Jumps are relative to the instruction that holds them.
	}
	return out, err
}

func (p *regexParser) sequence() (node, error) {
	out := node{empty: true}
	for p.rest != "" && p.rest[0] != '|' && p.rest[0] != ')' {
		a, err := p.atom()
		if err != nil {
			return node{}, err
		}
		if a, err = p.repeat(a); err != nil {
			return node{}, err
		}
		out.code = append(out.code, a.code...)
		out.empty = out.empty && a.empty
		if len(out.code) > maxRegexCode {
			return node{}, needs("a pattern as long")
		}
	}
	return out, nil
}

// atom reads one character, set or group.
func (p *regexParser) atom() (node, error) {
	switch c := p.rest[0]; c {
	case '(':
		return p.group()
	case '[':
		p.rest = p.rest[1:]
		s, err := p.class()
		return p.set(s), err
	case '.':
		p.rest = p.rest[1:]
		return p.set(charSet{not: true, ranges: [][2]rune{{'\n', '\n'}}}), nil
	case '^', '$':
		return node{}, needs(fmt.Sprintf("the anchor %q in a pattern", c))
	case '*', '+', '?', '{':
		return node{}, needs(fmt.Sprintf("a pattern with %q after nothing", c))
	case '\\':
		var s charSet
		_, err := p.escape(&s)
		return p.set(s), err
	}
	r, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	var s charSet
	err := s.addLetter(r, p.fold)
	if p.fold && len(p.rest) > 0 {
		switch pair := strings.ToLower(string(r) + p.rest[:1]); pair {
		case "ss", "st", "ff", "fi", "fl":
			// Oniguruma matches ß and ligatures here.
			return node{}, needs(fmt.Sprintf("a pattern that ignores letter case in %q", pair))
		}
	}
	return p.set(s), err
}

func (p *regexParser) set(s charSet) node {
	s.seal(p.classes)
	p.sets = append(p.sets, s)
	return node{code: []instruction{{op: opSet, set: len(p.sets) - 1}}}
}

// group reads what begins with a parenthesis.
func (p *regexParser) group() (node, error) {
	kind := "("
	for _, k := range []string{"(?:", "(?i:", "(?=", "(?!"} {
		if strings.HasPrefix(p.rest, k) {
			kind = k
		}
	}
	p.rest = p.rest[len(kind):]
	if kind == "(" && strings.HasPrefix(p.rest, "?") {
		return node{}, needs(fmt.Sprintf("the group (%.3s in a pattern", p.rest))
	}
	fold := p.fold
	p.fold = p.fold || kind == "(?i:"
	out, err := p.alternation()
	p.fold = fold
	if err != nil {
		return node{}, err
	}
	if !strings.HasPrefix(p.rest, ")") {
		return node{}, fmt.Errorf("a group is not closed")
	}
	p.rest = p.rest[1:]
	if kind != "(?=" && kind != "(?!" {
		return out, nil
	}
	if len(out.code) != 1 || out.code[0].op != opSet {
		return node{}, needs("a look-ahead over other than one character in a pattern")
	}
	ahead := instruction{op: opAhead, set: out.code[0].set, want: kind == "(?="}
	return node{[]instruction{ahead}, true}, nil
}

// class reads a bracketed set after its bracket.
func (p *regexParser) class() (charSet, error) {
	var s charSet
	if strings.HasPrefix(p.rest, "^") {
		s.not, p.rest = true, p.rest[1:]
	}
	for first := true; ; first = false {
		switch {
		case p.rest == "":
			return s, fmt.Errorf("a set is not closed")
		case p.rest[0] == ']' && !first:
			p.rest = p.rest[1:]
			return s, nil
		case p.rest[0] == '[' || p.rest[0] == ']':
			return s, needs("a set within a set in a pattern")
		case strings.HasPrefix(p.rest, "&&"):
			return s, needs("an intersection of sets in a pattern")
		}
		if err := p.classItem(&s); err != nil {
			return s, err
		}
	}
}

// classItem reads one member, or a range of them.
func (p *regexParser) classItem(s *charSet) error {
	lo, err := p.classRune(s)
	if err != nil || lo < 0 {
		return err
	}
	if len(p.rest) < 2 || p.rest[0] != '-' || p.rest[1] == ']' {
		return s.addLetter(lo, p.fold)
	}
	p.rest = p.rest[1:]
	hi, err := p.classRune(s)
	if err != nil {
		return err
	}
	if hi < lo || p.fold {
		return needs("such a range of characters in a pattern")
	}
	s.ranges = append(s.ranges, [2]rune{lo, hi})
	return nil
}

// classRune reads a character, or adds a set such as \p{L} to s and returns -1.
func (p *regexParser) classRune(s *charSet) (rune, error) {
	if p.rest[0] == '\\' {
		return p.escape(s)
	}
	r, size := utf8.DecodeRuneInString(p.rest)
	if r == '[' || r == '&' && strings.HasPrefix(p.rest, "&&") {
		return 0, needs("a set within a set in a pattern")
	}
	p.rest = p.rest[size:]
	return r, nil
}

// escape reads what begins with a backslash. A single character is added to s
// only outside classes, where s is empty; the rune is -1 for a set.
func (p *regexParser) escape(s *charSet) (rune, error) {
	if len(p.rest) < 2 {
		return 0, fmt.Errorf("ends with a backslash")
	}
	c := p.rest[1]
	if c == 'p' || c == 'P' {
		return -1, p.property(s)
	}
	r, size := utf8.DecodeRuneInString(p.rest[1:])
	p.rest = p.rest[1+size:]
	switch c {
	case 's':
		s.classes |= class.Spaces
		return -1, nil
	case 'S':
		s.outside = append(s.outside, charSet{not: true, classes: class.Spaces})
		return -1, nil
	case 'd':
		s.tables = append(s.tables, unicode.Nd)
		p.old = true
		return -1, nil
	}
	if i := strings.IndexByte("rntfv", c); i >= 0 {
		r = rune("\r\n\t\f\v"[i])
	} else if r >= 128 || unicode.IsLetter(r) || unicode.IsDigit(r) {
		return 0, needs(fmt.Sprintf("the escape \\%c in a pattern", r))
	}
	return r, s.addLetter(r, false)
}

// property reads \p{…} or \P{…}, also with ^ inside.
func (p *regexParser) property(s *charSet) error {
	not := p.rest[1] == 'P'
	body, ok := strings.CutPrefix(p.rest[2:], "{")
	end := strings.IndexByte(body, '}')
	if !ok || end < 0 {
		return needs("a character property without braces in a pattern")
	}
	name := body[:end]
	p.rest = body[end+1:]
	if n, is := strings.CutPrefix(name, "^"); is {
		name, not = n, !not
	}
	inner := charSet{not: not}
	old, err := inner.addProperty(name)
	p.old = p.old || old
	if not {
		s.outside = append(s.outside, inner)
	} else {
		s.classes |= inner.classes
		s.tables = append(s.tables, inner.tables...)
	}
	return err
}
