package class

import (
	"testing"
	"unicode"
)

// goClass is the class of r by package unicode.
func goClass(r rune) Class {
	switch {
	case r == '\n' || r == '\r':
		return Newline
	case unicode.Is(unicode.White_Space, r):
		return Space
	case unicode.Is(unicode.N, r):
		return Digit
	case unicode.Is(unicode.Lu, r), unicode.Is(unicode.Lt, r):
		return Upper
	case unicode.Is(unicode.Ll, r):
		return Lower
	case unicode.Is(unicode.L, r):
		return Caseless
	case unicode.Is(unicode.M, r):
		return Mark
	}
	return Other
}

// TestClasses compares the table with package unicode on every character that
// the older of the two versions knows.
func TestClasses(t *testing.T) {
	tab, err := parse(unicode16)
	if err != nil {
		t.Fatal(err)
	}
	added, later := 0, 0
	for r := range rune(unicode.MaxRune + 1) {
		got, want := tab.blocks[tab.page[r>>8]][r&255], goClass(r)
		switch {
		case got == want:
		case !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z):
			added++ // unassigned in package unicode
		case got == Other:
			later++ // unassigned in Unicode 16
		default:
			t.Errorf("%U is of class %d here, %d in Unicode %s", r, got, want, unicode.Version)
		}
	}
	if unicode.Version == "15.0.0" && later > 0 {
		t.Errorf("%d characters of Unicode 15 are missing", later)
	}
	t.Logf("against Unicode %s: %d newer, %d older", unicode.Version, added, later)
	if got, _ := tab.At("\u0897", 0); got != Mark { // new in 16.0
		t.Errorf("U+0897 is of class %d, want mark", got)
	}
}

func TestClassesDamaged(t *testing.T) {
	for _, runs := range [][]byte{nil, unicode16[:100], append(append([]byte{}, unicode16...), 8), {0x80}} {
		if _, err := parse(runs); err == nil {
			t.Errorf("no error for %d bytes", len(runs))
		}
	}
}
