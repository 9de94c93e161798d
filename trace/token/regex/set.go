package regex

import (
	"fmt"
	"unicode"

	"reprise/trace/token/class"
)

// charSet is a set of characters of a regular expression: a union, or the
// complement of one.
type charSet struct {
	not     bool
	classes uint // of the class table
	ranges  [][2]rune
	tables  []*unicode.RangeTable // of package unicode
	outside []charSet             // complements inside a class: [^…\P{L}…]
	ascii   [2]uint64             // the answer for ASCII, once sealed
}

// seal computes the answers for ASCII.
func (s *charSet) seal(t *class.Table) {
	for r := rune(0); r < 128; r++ {
		if s.slow(t, r) {
			s.ascii[r/64] |= 1 << (r % 64)
		}
	}
}

func (s *charSet) has(t *class.Table, r rune) bool {
	if r < 128 {
		return s.ascii[r/64]>>(r%64)&1 != 0
	}
	return s.slow(t, r)
}

func (s *charSet) slow(t *class.Table, r rune) bool {
	in := t.Of(r).In(s.classes)
	for i := 0; i < len(s.ranges) && !in; i++ {
		in = s.ranges[i][0] <= r && r <= s.ranges[i][1]
	}
	in = in || len(s.tables) > 0 && unicode.In(r, s.tables...)
	for i := 0; i < len(s.outside) && !in; i++ {
		in = s.outside[i].slow(t, r)
	}
	return in != s.not
}

// addProperty adds \p{name}; old tells that package unicode must answer, whose
// version is older than Unicode 16.
func (s *charSet) addProperty(name string) (old bool, err error) {
	switch name {
	case "L":
		s.classes |= class.Letters
		return false, nil
	case "M":
		s.classes |= 1 << class.Mark
		return false, nil
	case "N":
		s.classes |= 1 << class.Digit
		return false, nil
	case "Ll":
		s.classes |= 1 << class.Lower
		return false, nil
	}
	if t, ok := unicode.Categories[name]; ok && len(name) <= 2 && name[0] != 'C' {
		s.tables = append(s.tables, t)
		return true, nil
	}
	if t, ok := unicode.Scripts[name]; ok {
		s.tables = append(s.tables, t)
		return true, nil
	}
	return false, needs(fmt.Sprintf("the character property %.20q in a pattern", name))
}

// addLetter adds a character and, where letter case is ignored, its other forms.
// Case folding makes U+017F an s and U+212A a k.
func (s *charSet) addLetter(r rune, fold bool) error {
	s.ranges = append(s.ranges, [2]rune{r, r})
	if !fold {
		return nil
	}
	if r >= 128 {
		return needs("a pattern that ignores the case of letters beyond ASCII")
	}
	if l := r | 0x20; l >= 'a' && l <= 'z' {
		s.ranges = append(s.ranges, [2]rune{l, l}, [2]rune{l &^ 0x20, l &^ 0x20})
		switch l {
		case 's':
			s.ranges = append(s.ranges, [2]rune{0x17F, 0x17F})
		case 'k':
			s.ranges = append(s.ranges, [2]rune{0x212A, 0x212A})
		}
	}
	return nil
}
