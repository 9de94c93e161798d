package regex

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"reprise/trace/token/class"
)

// repeat reads a quantifier after a and applies it.
func (p *regexParser) repeat(a node) (node, error) {
	low, high, n := quantifier(p.rest)
	if n == 0 {
		return a, nil
	}
	p.rest = p.rest[n:]
	lazy := false
	if p.rest != "" {
		switch p.rest[0] {
		case '?':
			if high != low { // {n}? is another thing in Oniguruma
				lazy, p.rest = true, p.rest[1:]
			} else {
				return node{}, needs("the quantifier {n}? in a pattern")
			}
		case '+', '*', '{':
			return node{}, needs("a possessive or doubled quantifier in a pattern")
		}
	}
	if a.empty {
		return node{}, needs("a repetition of what may be empty in a pattern")
	}
	if low > 64 || high > 64 || len(a.code)*max(low, high, 1) > maxRegexCode {
		return node{}, needs("as many repetitions in a pattern")
	}
	out := node{empty: low == 0}
	for range low {
		out.code = append(out.code, a.code...)
	}
	size := len(a.code)
	split := func(in, out int) instruction {
		if lazy {
			in, out = out, in
		}
		return instruction{op: opSplit, x: in, y: out}
	}
	if high < 0 {
		out.code = append(out.code, split(1, size+2))
		out.code = append(out.code, a.code...)
		out.code = append(out.code, instruction{op: opJump, x: -size - 1})
		return out, nil
	}
	for k := low; k < high; k++ {
		out.code = append(out.code, split(1, (size+1)*(high-k)))
		out.code = append(out.code, a.code...)
	}
	return out, nil
}

// quantifier reads ?, *, + and {n}, {n,}, {n,m}; high is -1 without bound and n
// the number of bytes, 0 if there is none.
func quantifier(s string) (low, high, n int) {
	if s == "" {
		return 0, 0, 0
	}
	switch s[0] {
	case '?':
		return 0, 1, 1
	case '*':
		return 0, -1, 1
	case '+':
		return 1, -1, 1
	case '{':
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return 0, 0, 0
		}
		a, b, comma := strings.Cut(s[1:end], ",")
		low, err := strconv.Atoi(a)
		if err != nil || low < 0 {
			return 0, 0, 0
		}
		switch {
		case !comma:
			return low, low, end + 1
		case b == "":
			return low, -1, end + 1
		}
		if high, err = strconv.Atoi(b); err == nil && high >= low {
			return low, high, end + 1
		}
	}
	return 0, 0, 0
}

// Regex is a pattern that no hand-written scanner knows. The machine remembers
// from which states it has failed, so that no state is tried twice at a place:
// time is linear in the text for any pattern.
type Regex struct {
	pattern string
	classes *class.Table
	code    []instruction
	sets    []charSet
	old     bool
}

// Compile reads a pattern, or says which of its features is not here.
func Compile(pattern string, classes *class.Table) (*Regex, error) {
	p := &regexParser{rest: pattern, classes: classes}
	n, err := p.alternation()
	if err != nil {
		return nil, err
	}
	if p.rest != "" {
		return nil, fmt.Errorf("a parenthesis is not opened")
	}
	if n.empty {
		return nil, needs("a pattern that matches the empty string")
	}
	code := append(n.code, instruction{op: opDone})
	for i := range code {
		code[i].x += i
		code[i].y += i
	}
	return &Regex{pattern, classes, code, p.sets, p.old}, nil
}

// Note tells a person that the pattern is interpreted.
func (re *Regex) Note() string {
	s := fmt.Sprintf("unknown pattern %.60q: interpreted, some times slower", re.pattern)
	if re.old {
		s += ", characters newer than Unicode " + unicode.Version + " may be cut otherwise than by the reference"
	}
	return s
}

// state is an instruction and a place in the text.
type state struct{ pc, at int }

// failures remembers states that lead to no match, in pages of places that are
// dropped once the search has passed them.
type failures struct {
	words int // of 64 instructions for each place
	pages [][]uint64
	spare []uint64
}

const failurePage = 1024

// add notes a state and tells whether it is new.
func (f *failures) add(s state) bool {
	k := s.at / failurePage
	for len(f.pages) <= k {
		f.pages = append(f.pages, nil)
	}
	if f.pages[k] == nil {
		if f.pages[k], f.spare = f.spare, nil; f.pages[k] == nil {
			f.pages[k] = make([]uint64, failurePage*f.words)
		}
	}
	w := &f.pages[k][s.at%failurePage*f.words+s.pc/64]
	was := *w
	*w |= 1 << (s.pc % 64)
	return *w != was
}

// forget drops what is known of a place, and of the pages before it.
func (f *failures) forget(at int) {
	k := at / failurePage
	if k < len(f.pages) && f.pages[k] != nil {
		clear(f.pages[k][at%failurePage*f.words:][:f.words])
	}
	for k--; k >= 0 && k < len(f.pages) && f.pages[k] != nil; k-- {
		f.spare = f.pages[k]
		clear(f.spare)
		f.pages[k] = nil
	}
}

// All yields where the matches in text begin and end, none overlapping, empty
// ones left out.
func (re *Regex) All(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		f := &failures{words: (len(re.code) + 63) / 64}
		var stack []state
		for i := 0; i < len(text); {
			var end int
			end, stack = re.match(f, stack[:0], text, i)
			if end > i {
				if !yield(i, end) {
					return
				}
				i = end
				f.forget(end)
				continue
			}
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		}
	}
}

// match returns the end of the match at text[i:], or -1. After a match all
// states noted at places after its end have failed: those that led to it stand
// at places up to there.
func (re *Regex) match(f *failures, stack []state, text string, i int) (int, []state) {
	stack = append(stack, state{0, i})
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for f.add(s) {
			in := &re.code[s.pc]
			switch in.op {
			case opDone:
				return s.at, stack
			case opJump:
				s.pc = in.x
				continue
			case opSplit:
				stack = append(stack, state{in.y, s.at})
				s.pc = in.x
				continue
			}
			r, size := utf8.DecodeRuneInString(text[s.at:])
			in2 := size > 0 && re.sets[in.set].has(re.classes, r)
			if in.op == opAhead {
				if in2 != in.want {
					break
				}
				s.pc++
				continue
			}
			if !in2 {
				break
			}
			s = state{s.pc + 1, s.at + size}
		}
	}
	return -1, stack
}
