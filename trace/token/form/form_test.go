package form

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var forms = []struct {
	name            string
	compose, compat bool
	of              norm.Form
}{{"NFC", true, false, norm.NFC}, {"NFD", false, false, norm.NFD}, {"NFKC", true, true, norm.NFKC}, {"NFKD", false, true, norm.NFKD}}

// alphabet is characters that do something in a form: composed and decomposed
// Latin, Hangul and its parts, ligatures, marks that change their order.
var alphabet = []rune("aeoÅéß\u212bſﬁ①가각각\u0300\u0301\u0327\u0323\u0345\u0F71\u0F72뮀日\U0001D15E\u09C7\u09BE")

// Text of runs of marks that are short is what golang.org/x/text makes of it.
func TestAgainstText(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, f := range forms {
		own := New(f.compose, f.compat, false)
		for range 3000 {
			var text []rune
			for range rng.IntN(12) {
				text = append(text, alphabet[rng.IntN(len(alphabet))])
			}
			if got, want := own.Apply(string(text)), f.of.String(string(text)); got != want {
				t.Fatalf("%s of %+q: %+q, want %+q", f.name, string(text), got, want)
			}
		}
	}
}

// A form is reached at once, and what has it is left as it is.
func FuzzApply(f *testing.F) {
	f.Add("e\u0301 가 ﬁ")
	var own []*Form
	for _, k := range forms {
		own = append(own, New(k.compose, k.compat, false), New(k.compose, k.compat, true))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		for i, k := range own {
			once := k.Apply(text)
			if again := k.Apply(once); again != once || !utf8.ValidString(once) {
				t.Fatalf("form %d of %+q: %+q, then %+q", i, text, once, again)
			}
		}
	})
}
