package token

import "reprise/trace/token/class"

// The parts that the expressions of published tokenizers are made of.
const (
	suffixes   = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	whiteTail  = `\s*[\r\n]+|\s+(?!\S)|\s+`
	o200kUpper = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
	o200kLower = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
	kimiUpper  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+`
	kimiLower  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*`
)

// Expressions by the models that brought them. Those of the OpenAI encodings are
// in tiktoken_ext/openai_public.py of openai/tiktoken, the others in the
// tokenizer.json, tekken.json or tokenization_*.py of the models.
const (
	patternGPT2   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	patternCL100K = suffixes + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|` + whiteTail
	patternQwen2  = suffixes + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|` + whiteTail
	patternQwen35 = suffixes + `|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|` + whiteTail
	patternO200K  = o200kUpper + suffixes + `?|` + o200kLower + suffixes + `?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|` + whiteTail
	patternTekken = o200kUpper + `|` + o200kLower + `|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|` + whiteTail
	patternKimi   = `[\p{Han}]+|` + kimiUpper + suffixes + `?|` + kimiLower + suffixes + `?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|` + whiteTail

	// The three splits of DeepSeek V3, one after the other.
	patternDeepSeek1 = `\p{N}{1,3}`
	patternDeepSeek2 = `[一-龥぀-ゟ゠-ヿ]+`
	patternDeepSeek3 = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)

// knownPattern returns the scanner of an expression that is known letter by
// letter. All of these match at every place of every text, without gaps.
func knownPattern(pattern string) (scanner, bool) {
	switch pattern {
	case patternGPT2:
		return splitGPT2, true
	case patternCL100K:
		return scanCL100K, true
	case patternQwen2:
		return splitQwen2, true
	case patternQwen35:
		return splitQwen35, true
	case patternO200K:
		return scanO200K, true
	case patternTekken:
		return splitTekken, true
	case patternKimi:
		return splitKimi, true
	}
	return nil, false
}

// knownMasks returns the form of a known pattern that works on masks, or nil
// where it has none.
func knownMasks(pattern string) *maskRules {
	switch pattern {
	case patternCL100K:
		return &maskRules{prefix: true}
	case patternQwen2:
		return &maskRules{prefix: true, single: true}
	case patternO200K:
		return &maskRules{cased: true, suffix: true, slash: true}
	}
	return nil
}

const anySymbol = 1<<class.Other | 1<<class.Mark

// splitGPT2 follows patternGPT2: contractions in lower case only, and no rule
// for line ends.
func splitGPT2(t *class.Table, text string, i int) int {
	if end := contraction(text, i); end > i && lowerASCII(text[i+1:end]) {
		return end
	}
	start := i
	if text[i] == ' ' && i+1 < len(text) {
		start = i + 1
	}
	c, size := t.At(text, start)
	for _, set := range [...]uint{class.Letters, 1 << class.Digit, anySymbol} {
		if c.In(set) {
			return t.Run(text, start+size, set)
		}
	}
	end, last := i, i
	for end < len(text) {
		c, size := t.At(text, end)
		if !c.In(class.Spaces) {
			break
		}
		last, end = end, end+size
	}
	if end < len(text) && last > i {
		return last
	}
	return end
}

func lowerASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}

// splitQwen2 follows patternQwen2: cl100k's rules, digits one by one.
func splitQwen2(t *class.Table, text string, i int) int {
	if c, size := t.At(text, i); c == class.Digit {
		return i + size
	}
	return scanCL100K(t, text, i)
}

// splitQwen35 follows patternQwen35: marks are letters of a word.
func splitQwen35(t *class.Table, text string, i int) int {
	const letters, symbols = class.Letters | 1<<class.Mark, 1 << class.Other
	if end := contraction(text, i); end > i {
		return end
	}
	c, size := t.At(text, i)
	switch {
	case c.In(letters):
		return t.Run(text, i+size, letters)
	case c == class.Digit:
		return i + size
	case c != class.Newline:
		if end := t.Run(text, i+size, letters); end > i+size {
			return end
		}
	}
	if c == class.Other {
		return symbolTail(text, t.Run(text, i+size, symbols), "")
	}
	if text[i] == ' ' {
		if end := t.Run(text, i+1, symbols); end > i+1 {
			return symbolTail(text, end, "")
		}
	}
	return whitespace(t, text, i)
}

// splitTekken follows patternTekken: o200k's rules without contractions, digits
// one by one.
func splitTekken(t *class.Table, text string, i int) int {
	if end := word(t, text, i); end > i {
		return end
	}
	if c, size := t.At(text, i); c == class.Digit {
		return i + size
	}
	return scanRest(t, text, i, "/")
}

// splitKimi follows patternKimi: runs of Han characters first, then o200k's
// words without Han, then cl100k's rest.
func splitKimi(t *class.Table, text string, i int) int {
	end := i
	for end < len(text) {
		_, size := t.At(text, end)
		if !isHan(text[end : end+size]) {
			break
		}
		end += size
	}
	if end > i {
		return end
	}
	if end := kimiWord(t, text, i); end > i {
		return contraction(text, end)
	}
	return scanRest(t, text, i, "")
}

// kimiWord is word, where Han characters are in neither set; text[i] is not Han.
func kimiWord(t *class.Table, text string, i int) int {
	c, size := t.At(text, i)
	start := i
	if !c.In(class.Letters) {
		if c == class.Newline || c == class.Digit {
			return i
		}
		start = i + size
	}
	end, ok := kimiLowerWord(t, text, start)
	switch {
	case ok:
		return end
	case c == class.Mark:
		return i + size
	case end > start:
		return end
	}
	return i
}

// kimiLowerWord is lowerWord without Han.
func kimiLowerWord(t *class.Table, text string, i int) (end int, ok bool) {
	set := uint(1<<class.Upper | 1<<class.Lower | 1<<class.Caseless | 1<<class.Mark)
	last := i
	for end = i; end < len(text); {
		c, size := t.At(text, end)
		if !c.In(set) || isHan(text[end:end+size]) {
			break
		}
		if end += size; c == class.Lower {
			set, ok = 1<<class.Lower|1<<class.Caseless|1<<class.Mark, true
		}
		if c != class.Upper {
			last = end
		}
	}
	if ok || last == i {
		return end, ok
	}
	return last, true
}

// isHan tells whether the character c is of the script Han: Scripts.txt of
// Unicode 16.0.
func isHan(c string) bool {
	if len(c) < 3 {
		return false
	}
	r := []rune(c)[0]
	for _, h := range [...][2]rune{
		{0x4E00, 0x9FFF}, {0x2E80, 0x2E99}, {0x2E9B, 0x2EF3}, {0x2F00, 0x2FD5}, {0x3005, 0x3005}, {0x3007, 0x3007},
		{0x3021, 0x3029}, {0x3038, 0x303B}, {0x3400, 0x4DBF}, {0xF900, 0xFA6D}, {0xFA70, 0xFAD9}, {0x16FE2, 0x16FE3},
		{0x16FF0, 0x16FF1}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B739}, {0x2B740, 0x2B81D}, {0x2B820, 0x2CEA1},
		{0x2CEB0, 0x2EBE0}, {0x2EBF0, 0x2EE5D}, {0x2F800, 0x2FA1D}, {0x30000, 0x3134A}, {0x31350, 0x323AF},
	} {
		if r >= h[0] && r <= h[1] {
			return true
		}
	}
	return false
}
