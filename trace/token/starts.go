package token

import (
	"math/bits"

	"reprise/trace/token/class"
)

// maskRules is a scanner's regular expression in the form that works on masks:
// words, numbers of up to three or of single digits, symbols with the space
// before and the line ends after them, white space.
type maskRules struct {
	// cased words end between a lower-case and an upper-case letter, and marks
	// are letters (o200k); else words are runs of letters.
	cased bool
	// suffix and prefix say where a contraction ('s, 'll …) belongs: to the word
	// before it (o200k) or to itself (cl100k).
	suffix, prefix bool
	single         bool // every digit alone
	slash          bool // slashes may follow the line ends after symbols
}

// blockRules finds the token starts of blocks of one text.
type blockRules struct {
	maskRules
	classes *class.Table
	cuts    *cutFilter // nil: no cuts within words
}

// starts finds the tokens of the block at text[p:], where a token starts. n is
// the number of bytes of text, behind which blockSize+blockPad more can be read
// if the text ends within the block.
//
// Bit i of found is set if a token surely starts at p+i, i > 0. Where
// doubtful is true, the token that starts at the last of these (at p if there is
// none) must be scanned. cut has further bits, below the last of found, at which
// a token may be cut without changing its ids.
func (r *blockRules) starts(text []byte, p, n int) (found, cut uint64, doubtful bool) {
	var m masks
	classify(&m, (*[blockSize]byte)(text[p:]))
	valid, limit := ^uint64(0), blockSize-1
	if n-p <= blockSize {
		valid, limit = ^uint64(0)>>(blockSize-n+p), n-p
	}
	if m.lead&valid != 0 {
		return r.startsWide(&m, text, p, n)
	}
	upper, lower := m.upper&valid, m.lower&valid
	letter := upper | lower
	digit, blank, newline := m.digit&valid, m.blank&valid, m.newline&valid
	symbol := valid &^ (letter | digit | blank | newline)

	white := blank | newline
	if n-p > blockSize && white>>(blockSize-1) != 0 {
		limit = min(limit, blockSize-trailing(white)+1)
	}

	wordStart := letter &^ (letter << 1)
	symbolStart := symbol &^ (symbol << 1)
	joined := symbolStart & (m.space << 1) // the space before belongs to it
	symbolStart &^= joined
	absorbed := symbolStart & (wordStart >> 1) // a symbol that belongs to the word after it
	wordStart &^= absorbed<<1 | blank<<1

	tail := newline & (symbol << 1)
	tail = ((newline + tail) ^ newline) & newline
	found = wordStart | symbolStart | r.digitStarts(digit)
	var doubt uint64
	if r.slash {
		doubt = slashes(text[p:], symbol&(tail<<1))
	}
	if r.cased {
		found |= upper & (lower << 1)
	}
	found |= whiteStarts(white&^tail, blank, newline&^tail, valid)
	last := valid &^ white & (blank << 1) >> 1
	found |= last

	if quotes := absorbed & m.quote; quotes != 0 {
		found = r.contractions(found, quotes, letter, text, p)
	}
	return finish(found, doubt, limit)
}

// finish keeps the starts that are certain: those before the limit and before
// the first doubt.
func finish(found, doubt uint64, limit int) (uint64, uint64, bool) {
	doubtful := false
	if d := bits.TrailingZeros64(doubt); d <= limit && d < blockSize {
		limit, doubtful = d, true
	}
	if limit < blockSize {
		found &= 1<<limit - 1
	}
	found &^= 1
	return found, 0, doubtful
}

// digitStarts returns the starts of numbers in runs of digits of one byte each.
func (r *blockRules) digitStarts(digit uint64) uint64 {
	if r.single {
		return digit
	}
	start := digit &^ (digit << 1)
	inner := digit & (digit << 1) & (digit << 2) & (digit << 3)
	for next := start << 3 & inner; next != 0; next = next << 3 & inner {
		start |= next
	}
	return start
}

// slashes returns those of the given positions that hold a slash.
func slashes(block []byte, at uint64) uint64 {
	var found uint64
	for ; at != 0; at &= at - 1 {
		i := bits.TrailingZeros64(at)
		if block[i] == '/' {
			found |= 1 << i
		}
	}
	return found
}

// whiteStarts returns the starts of the runs in white, of which newline holds
// the line ends, and within them the first blank after the last line end.
func whiteStarts(white, blank, newline, valid uint64) uint64 {
	start := white &^ (white << 1)
	after := blank & (newline << 1)
	if after == 0 {
		return start
	}
	// Adding a bit to a run of ones moves it behind the run.
	ends := (blank + after) &^ blank
	for e := ends & newline; e != 0; e &= e - 1 {
		below := after & (e&-e - 1)
		after &^= 1 << (63 - bits.LeadingZeros64(below))
	}
	return start | after
}

// contractions corrects starts around the given quotes, each a symbol that
// belongs to the letters after it.
func (r *blockRules) contractions(found, quotes, letter uint64, text []byte, p int) uint64 {
	if r.suffix {
		quotes &= letter << 1
	}
	end := -1
	for ; quotes != 0; quotes &= quotes - 1 {
		i := bits.TrailingZeros64(quotes)
		size := contractionSize(text[p+i:])
		if size == 0 || r.suffix && i == end {
			continue
		}
		if r.suffix {
			found &^= (1<<size - 1) << i
		}
		end = i + size
		found |= 1 << end
	}
	return found
}

// contractionSize is contraction for text behind which zeros can be read.
func contractionSize(s []byte) int {
	_ = s[2]
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if s[2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if s[2]|0x20 == 'l' {
			return 3
		}
	}
	if s[1] == 0xC5 && s[2] == 0xBF {
		return 3
	}
	return 0
}
