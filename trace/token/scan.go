package token

import "reprise/trace/token/class"

// A scanner returns the end of the pre-token that starts at text[i], i within
// text: what the first alternative of the encoding's regular expression that
// matches there matches. Every valid UTF-8 text is cut without gaps.
//
// The expressions are those of openai/tiktoken, tiktoken_ext/openai_public.py;
// the two share all alternatives but those for words.
type scanner func(t *class.Table, text string, i int) int

// scanCL100K follows
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} |
//	 ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
func scanCL100K(t *class.Table, text string, i int) int {
	if end := contraction(text, i); end > i {
		return end
	}
	c, size := t.At(text, i)
	if c.In(class.Letters) {
		return t.Run(text, i+size, class.Letters)
	}
	if c != class.Newline && c != class.Digit {
		if end := t.Run(text, i+size, class.Letters); end > i+size {
			return end
		}
	}
	return scanRest(t, text, i, "")
}

// scanO200K follows, with U for [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], W for
// [\p{Ll}\p{Lm}\p{Lo}\p{M}] and C for (?i:'s|'t|'re|'ve|'m|'ll|'d),
//
//	[^\r\n\p{L}\p{N}]?U*W+C? | [^\r\n\p{L}\p{N}]?U+W*C? | \p{N}{1,3} |
//	 ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
func scanO200K(t *class.Table, text string, i int) int {
	if end := word(t, text, i); end > i {
		return contraction(text, end)
	}
	return scanRest(t, text, i, "/")
}

// word matches the two word alternatives of o200k without their contraction and
// returns i where neither matches.
func word(t *class.Table, text string, i int) int {
	c, size := t.At(text, i)
	start := i
	if !c.In(class.Letters) {
		if c == class.Newline || c == class.Digit {
			return i
		}
		start = i + size
	}
	end, ok := lowerWord(t, text, start)
	switch {
	case ok:
		return end
	case c == class.Mark:
		// The first alternative without its optional prefix: the mark alone,
		// since what follows ends in no member of W.
		return i + size
	case end > start:
		return end
	}
	return i
}

// lowerWord matches U*W+ at text[i:]. Where it fails, end is the end of U*.
//
// U* takes all it can. If no member of W follows, it gives back characters
// until one is in both sets; W+ then takes that one alone, for the next is not
// in W. So the match ends after the last caseless letter or mark of the run.
func lowerWord(t *class.Table, text string, i int) (end int, ok bool) {
	const w = 1<<class.Lower | 1<<class.Caseless | 1<<class.Mark
	last := i
	for end = i; end < len(text); {
		c, size := t.At(text, end)
		if c == class.Lower {
			return t.Run(text, end+size, w), true
		}
		if !c.In(1<<class.Upper | 1<<class.Caseless | 1<<class.Mark) {
			break
		}
		end += size
		if c != class.Upper {
			last = end
		}
	}
	if last > i {
		return last, true
	}
	return end, false
}

// scanRest matches the alternatives after the words. tail holds the bytes other
// than CR and LF that may follow a run of symbols.
func scanRest(t *class.Table, text string, i int, tail string) int {
	const symbol = 1<<class.Other | 1<<class.Mark
	c, size := t.At(text, i)
	switch {
	case c == class.Digit:
		return threeDigits(t, text, i)
	case c.In(symbol):
		return symbolTail(text, t.Run(text, i+size, symbol), tail)
	case text[i] == ' ':
		if end := t.Run(text, i+1, symbol); end > i+1 {
			return symbolTail(text, end, tail)
		}
	}
	return whitespace(t, text, i)
}

// threeDigits matches \p{N}{1,3}.
func threeDigits(t *class.Table, text string, i int) int {
	for n := 0; n < 3 && i < len(text); n++ {
		c, size := t.At(text, i)
		if c != class.Digit {
			break
		}
		i += size
	}
	return i
}

// symbolTail matches [\r\n]*, with the bytes of tail in the set.
func symbolTail(text string, i int, tail string) int {
	for i < len(text) && (text[i] == '\n' || text[i] == '\r' || tail != "" && text[i] == tail[0]) {
		i++
	}
	return i
}

// whitespace matches \s*[\r\n]+ | \s+(?!\S) | \s+ where text[i] is white space:
// up to the last line end of the run if it has one; else the run without its
// last character where a word follows; else the run.
func whitespace(t *class.Table, text string, i int) int {
	end, lastLine, lastSize := i, 0, 0
	for end < len(text) {
		c, size := t.At(text, end)
		if !c.In(class.Spaces) {
			break
		}
		end += size
		lastSize = size
		if c == class.Newline {
			lastLine = end
		}
	}
	switch {
	case lastLine > 0:
		return lastLine
	case end < len(text) && end-lastSize > i:
		return end - lastSize
	}
	return end
}

// contraction matches (?i:'s|'t|'re|'ve|'m|'ll|'d) at text[i:] and returns its
// end, or i. Case folding makes U+017F, the long s, an s.
func contraction(text string, i int) int {
	rest := text[i:]
	if len(rest) < 2 || rest[0] != '\'' {
		return i
	}
	switch rest[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	}
	if len(rest) < 3 {
		return i
	}
	if rest[1] == 0xC5 && rest[2] == 0xBF {
		return i + 3
	}
	switch [2]byte{rest[1] | 0x20, rest[2] | 0x20} {
	case [2]byte{'r', 'e'}, [2]byte{'v', 'e'}, [2]byte{'l', 'l'}:
		return i + 3
	}
	return i
}
