package form

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Form is one of NFC, NFD, NFKC and NFKD as HuggingFace tokenizers computes it.
// Two things differ from golang.org/x/text: that library puts U+034F into runs of
// more than 30 non-starters (Stream-Safe Text), and its tables are newer. The
// algorithm is that of Unicode Standard Annex #15.
type Form struct {
	compose, compat bool
	old             bool // characters that are unknownToForms have no properties
	// active has a bit for each character that needs work: it decomposes, may be
	// joined to what stands before it, or has a combining class. All other text is
	// copied.
	active [(utf8.MaxRune + 1) / 64]uint64
	pairs  map[[2]rune]rune
}

// unknownToForms are the characters to which the tables of the reference, those
// of the crate unicode-normalization-alignments 0.1, give no decomposition and no
// combining class although those of golang.org/x/text 0.44 do: characters of
// Unicode 10 to 15. Found by trying all characters.
func unknownToForms(r rune) bool {
	ranges := [...][2]rune{
		{0x7FD, 0x7FD}, {0x898, 0x89F}, {0x8CA, 0x8D3}, {0x9FE, 0x9FE}, {0xC3C, 0xC3C}, {0xD3B, 0xD3C}, {0xEBA, 0xEBA},
		{0x1715, 0x1715}, {0x1ABF, 0x1ACE}, {0x1DF6, 0x1DFA}, {0x32FF, 0x32FF}, {0xA7F2, 0xA7F4}, {0xA82C, 0xA82C},
		{0xAB69, 0xAB69}, {0x10781, 0x10785}, {0x10787, 0x107B0}, {0x107B2, 0x107BA}, {0x10D24, 0x10D27},
		{0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50}, {0x10F82, 0x10F85}, {0x11070, 0x11070},
		{0x1133B, 0x1133B}, {0x1145E, 0x1145E}, {0x11839, 0x1183A}, {0x11938, 0x11938}, {0x1193D, 0x1193E},
		{0x11943, 0x11943}, {0x119E0, 0x119E0}, {0x11A34, 0x11A34}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99},
		{0x11D42, 0x11D42}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97}, {0x11F41, 0x11F42}, {0x16FF0, 0x16FF1},
		{0x1E030, 0x1E06D}, {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF},
		{0x1E4EC, 0x1E4EF}, {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9},
	}
	i, found := slices.BinarySearchFunc(ranges[:], r, func(h [2]rune, r rune) int { return cmp.Compare(h[1], r) })
	return found || i < len(ranges) && ranges[i][0] <= r
}

// The syllables of Hangul are made of their parts by arithmetic: section 3.12 of
// the Unicode Standard.
const (
	hangulS, hangulL, hangulV, hangulT = 0xAC00, 0x1100, 0x1161, 0x11A7
	hangulLs, hangulVs, hangulTs       = 19, 21, 28
	hangulCount                        = hangulLs * hangulVs * hangulTs
)

// New makes the tables of a form, in some milliseconds: old ones as
// HuggingFace tokenizers has them, else those of golang.org/x/text.
func New(compose, compat, old bool) *Form {
	f := &Form{compose: compose, compat: compat, old: old, pairs: map[[2]rune]rune{}}
	form := norm.NFD
	switch {
	case compose && compat:
		form = norm.NFKC
	case compose:
		form = norm.NFC
	case compat:
		form = norm.NFKD
	}
	var buf [utf8.UTFMax]byte
	for r := rune(0xA0); r < 0x30000; r++ {
		switch r { // ranges in which no character has any of it
		case 0x3400:
			r = 0xA000
		case 0xD7A4:
			r = 0xF900
		case 0x17000:
			r = 0x1B000
		case 0x20000:
			r = 0x2F800
		}
		if old && unknownToForms(r) {
			continue
		}
		b := buf[:utf8.EncodeRune(buf[:], r)]
		p := form.Properties(b)
		if p.CCC() != 0 || !p.BoundaryBefore() || len(p.Decomposition()) > 0 && !form.IsNormal(b) ||
			!compose && r >= hangulS && r < hangulS+hangulCount || !form.IsNormal(b) {
			f.active[r/64] |= 1 << (r % 64)
		}
		if compose {
			f.addPair(r, b)
		}
	}
	return f
}

// addPair notes of which two characters r is composed, if it may be.
func (f *Form) addPair(r rune, b []byte) {
	d := norm.NFD.Properties(b).Decomposition()
	if len(d) == 0 || !norm.NFC.IsNormal(b) {
		return
	}
	last, size := utf8.DecodeLastRune(d)
	first := []rune(string(norm.NFC.Bytes(d[:len(d)-size])))
	if len(first) == 1 {
		f.pairs[[2]rune{first[0], last}] = r
	}
}

func (f *Form) isActive(r rune) bool { return f.active[r/64]>>(r%64)&1 != 0 }

// Apply returns the text in the form, the text itself where it has the form.
// text is valid UTF-8.
func (f *Form) Apply(text string) string {
	var out []byte
	var work []rune
	done, starter := 0, 0 // copied so far; start of the last inactive character
	for i := 0; i < len(text); {
		if text[i] < 0xC2 {
			starter = i
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !f.isActive(r) {
			starter = i
			i += size
			continue
		}
		// From the last starter up to the next inactive character.
		begin := max(starter, done)
		end := i
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !f.isActive(r) {
				break
			}
			end += size
		}
		work = f.normalize(work[:0], text[begin:end])
		out = append(out, text[done:begin]...)
		for _, r := range work {
			out = utf8.AppendRune(out, r)
		}
		done, starter, i = end, end, end
	}
	if done == 0 {
		return text
	}
	return string(append(out, text[done:]...))
}

// normalize appends the form of a part that begins and ends at boundaries.
func (f *Form) normalize(dst []rune, part string) []rune {
	for _, r := range part {
		dst = f.decompose(dst, r)
	}
	f.order(dst)
	if f.compose {
		dst = f.join(dst)
	}
	return dst
}

func (f *Form) decompose(dst []rune, r rune) []rune {
	if s := r - hangulS; s >= 0 && s < hangulCount {
		dst = append(dst, hangulL+s/(hangulVs*hangulTs), hangulV+s%(hangulVs*hangulTs)/hangulTs)
		if t := s % hangulTs; t > 0 {
			dst = append(dst, hangulT+t)
		}
		return dst
	}
	if f.old && unknownToForms(r) {
		return append(dst, r)
	}
	form := norm.NFD
	if f.compat {
		form = norm.NFKD
	}
	if d := form.PropertiesString(string(r)).Decomposition(); len(d) > 0 {
		return append(dst, []rune(string(d))...)
	}
	return append(dst, r)
}

// combining returns the canonical combining class.
func (f *Form) combining(r rune) uint8 {
	if r < 0x300 || f.old && unknownToForms(r) {
		return 0
	}
	return norm.NFD.PropertiesString(string(r)).CCC()
}

// order sorts each run of characters with a combining class by it, in linear
// time but for a factor of log n.
func (f *Form) order(runes []rune) {
	type marked struct {
		ccc uint8
		r   rune
	}
	var run []marked
	for i := 0; i < len(runes); {
		run = run[:0]
		for k := i; k < len(runes); k++ {
			c := f.combining(runes[k])
			if c == 0 {
				break
			}
			run = append(run, marked{c, runes[k]})
		}
		if len(run) > 1 {
			slices.SortStableFunc(run, func(a, b marked) int { return cmp.Compare(a.ccc, b.ccc) })
			for k, m := range run {
				runes[i+k] = m.r
			}
		}
		i += max(1, len(run))
	}
}

// join composes in place and returns what remains.
func (f *Form) join(runes []rune) []rune {
	n, starter := 0, -1
	var before uint8 // class of the last character kept after the starter
	for _, r := range runes {
		c := f.combining(r)
		adjacent := n == starter+1
		if starter >= 0 && (adjacent || before != 0 && before < c) {
			if joined, ok := f.pair(runes[starter], r); ok {
				runes[starter] = joined
				continue
			}
		}
		if c == 0 {
			starter = n
		}
		before = c
		runes[n] = r
		n++
	}
	return runes[:n]
}

func (f *Form) pair(a, b rune) (rune, bool) {
	if l, v := a-hangulL, b-hangulV; l >= 0 && l < hangulLs && v >= 0 && v < hangulVs {
		return hangulS + (l*hangulVs+v)*hangulTs, true
	}
	if s, t := a-hangulS, b-hangulT; s >= 0 && s < hangulCount && s%hangulTs == 0 && t > 0 && t < hangulTs {
		return a + t, true
	}
	r, ok := f.pairs[[2]rune{a, b}]
	return r, ok
}
