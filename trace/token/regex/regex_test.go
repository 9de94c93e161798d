package regex

import (
	"regexp"
	"strings"
	"testing"

	"reprise/trace/token/class"
)

func matches(t testing.TB, pattern, text string) []string {
	t.Helper()
	classes, err := class.Load()
	if err != nil {
		t.Fatal(err)
	}
	re, err := Compile(pattern, classes)
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	var out []string
	for start, end := range re.All(text) {
		out = append(out, text[start:end])
	}
	return out
}

// What package regexp, whose alternatives are tried in order too, finds.
func TestAgainstStandard(t *testing.T) {
	texts := []string{"", "abc 12345 don't  stop\n\n", "Été à 7h, naïve?!", "aaaaab", "x=1;y=22", "日本語 text"}
	for _, pattern := range []string{`\p{L}+|\p{N}{1,3}|[^\s\p{L}\p{N}]+|\s+`, `a+?b|a`, `(?:ab|a)(?:c|bcd)?`, `[^\r\n\p{L}\p{N}]?\p{L}+`,
		`[a-c]{2,3}`, `'(?:[sdmt]|ll|ve|re)`, `\s*[\r\n]+|\s+`} {
		want := regexp.MustCompile(pattern)
		for _, text := range texts {
			got := matches(t, pattern, text)
			if all := want.FindAllString(text, -1); strings.Join(got, "|") != strings.Join(all, "|") {
				t.Errorf("%s in %q: %q, want %q", pattern, text, got, all)
			}
		}
	}
}

// Look-ahead keeps the last blank for the word behind it.
func TestLookAhead(t *testing.T) {
	if got := matches(t, `\s+(?!\S)|\s+|\S+`, "a   b "); strings.Join(got, "|") != "a|  | |b| " {
		t.Errorf("%q", got)
	}
}

// Features that are not here are named, and no pattern matches nothing.
func TestRefused(t *testing.T) {
	classes, err := class.Load()
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{`a*`: "empty string", `a++`: "possessive", `(?<=a)b`: "needs ", `\p{Nope}`: "property",
		`a)`: "parenthesis", `(a`: "", `[a`: "", `\`: "", `a{99}`: "repetitions", strings.Repeat("(?:", 40) + "a" + strings.Repeat(")", 40): "deeply"} {
		if _, err := Compile(pattern, classes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
}

// No pattern and text make the machine panic or leave the text.
func FuzzCompile(f *testing.F) {
	f.Add(`(?i:'s|'t)|[^\r\n\p{L}]?\p{L}+|\s+(?!\S)|\s+`, "don't stop")
	f.Add(`[^\P{L}a-z&&b]{2,}?|(?:a|b)*c`, "abcß")
	classes, err := class.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := Compile(pattern, classes)
		if err != nil || len(text) > 1000 {
			return
		}
		text = strings.ToValidUTF8(text, "?")
		at := 0
		for start, end := range re.All(text) {
			if start < at || end <= start || end > len(text) {
				t.Fatalf("match from %d to %d after %d", start, end, at)
			}
			at = end
		}
	})
}
