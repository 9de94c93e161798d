package token

import (
	_ "embed"
	"encoding/binary"
	"fmt"

	"reprise/trace/token/class"
)

// symbols16 holds the general categories P and S of Unicode 16.0 as run lengths:
// uvarints, first of characters outside, then inside, and so on by turns.
//
//go:embed symbols16.bin
var symbols16 []byte

// symbolSet tells punctuation and symbols from what else is of class other:
// controls, format characters and unassigned code points. One bit a code point.
type symbolSet [class.MaxRunes / 64]uint64

func newSymbolSet(runs []byte) (*symbolSet, error) {
	s := new(symbolSet)
	for at, inside := 0, false; len(runs) > 0; inside = !inside {
		v, n := binary.Uvarint(runs)
		if n <= 0 || v > uint64(class.MaxRunes-at) {
			return nil, fmt.Errorf("character classes: damaged table of symbols")
		}
		runs = runs[n:]
		for end := at + int(v); at < end; at++ {
			if inside {
				s[at/64] |= 1 << (at % 64)
			}
		}
	}
	return s, nil
}

func (s *symbolSet) has(r rune) bool { return s[r/64]>>(r%64)&1 != 0 }

// More classes, for DeepSeek only.
const (
	symbol   = class.Count + iota // P and S
	ideogram                      // the range of patternDeepSeek2
)

// deepSeek cuts as its three splits do one after the other: a digit or
// ideograph ends the text for the rules of the third.
type deepSeek struct {
	classes *class.Table
	symbols *symbolSet
}

// at is class.Table.at with the finer classes.
func (d deepSeek) at(text string, i int) (class.Class, int) {
	c, size := d.classes.At(text, i)
	if size == 1 {
		if c == class.Other && text[i] > ' ' && text[i] != 0x7F {
			c = symbol
		}
		return c, size
	}
	r := []rune(text[i : i+size])[0]
	switch {
	case c == class.Digit:
	case r >= 0x4E00 && r <= 0x9FA5, r >= 0x3040 && r <= 0x30FF:
		c = ideogram
	case c == class.Other && d.symbols.has(r):
		c = symbol
	}
	return c, size
}

func (d deepSeek) run(text string, i int, set uint) int {
	for i < len(text) {
		c, size := d.at(text, i)
		if !c.In(set) {
			break
		}
		i += size
	}
	return i
}

func (d deepSeek) split(_ *class.Table, text string, i int) int {
	const letters = class.Letters | 1<<class.Mark
	c, size := d.at(text, i)
	switch {
	case c == class.Digit:
		return threeDigits(d.classes, text, i)
	case c == ideogram:
		return d.run(text, i, 1<<ideogram)
	case c.In(letters):
		return d.run(text, i, letters)
	case c == symbol:
		if size == 1 {
			if end := asciiLetters(text, i+1); end > i+1 {
				return end
			}
		}
		return symbolTail(text, d.run(text, i, 1<<symbol), "")
	case c != class.Newline:
		if end := d.run(text, i+size, letters); end > i+size {
			return end
		}
	}
	if c == class.Other {
		return d.gap(text, i+size)
	}
	if text[i] == ' ' {
		if end := d.run(text, i+1, 1<<symbol); end > i+1 {
			return symbolTail(text, end, "")
		}
	}
	return d.whitespace(text, i)
}

func asciiLetters(text string, i int) int {
	for i < len(text) && (text[i]|0x20) >= 'a' && (text[i]|0x20) <= 'z' {
		i++
	}
	return i
}

// gap returns where characters that no rule matches end: at the next match,
// which may begin with the last of them if a letter follows.
func (d deepSeek) gap(text string, i int) int {
	for last := i; i < len(text); {
		c, size := d.at(text, i)
		if c != class.Other {
			if c.In(class.Letters|1<<class.Mark) && last < i {
				return last
			}
			return i
		}
		last, i = i, i+size
	}
	return i
}

// whitespace is the function of that name, with digits and ideographs as ends
// of the text.
func (d deepSeek) whitespace(text string, i int) int {
	end, lastLine, last := i, 0, i
	for end < len(text) {
		c, size := d.at(text, end)
		if !c.In(class.Spaces) {
			if c != class.Digit && c != ideogram && lastLine == 0 && last > i {
				return last
			}
			break
		}
		last = end
		if end += size; c == class.Newline {
			lastLine = end
		}
	}
	if lastLine > 0 {
		return lastLine
	}
	return end
}
