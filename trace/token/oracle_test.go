package token

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"reprise/trace/token/class"
)

// both opens the two tokenizers with tiktoken-go's beside them: the same
// vocabularies and regular expressions, another implementation.
func both(tb testing.TB) []pair {
	tb.Helper()
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	var out []pair
	for _, name := range Names() {
		own, err := Open(name)
		if err != nil {
			tb.Fatal(err)
		}
		ref, err := tiktoken.GetEncoding(name)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, pair{own, ref})
	}
	return out
}

// rankVocab returns the vocabulary of an embedded tokenizer.
func rankVocab(t *Tokenizer) *vocabulary {
	return t.enc.(*pieces).model.merger().(*merger).vocab
}

type pair struct {
	own *Tokenizer
	ref *tiktoken.Tiktoken
}

// check compares ids and count with the reference on one text, and the bytes
// that the ids stand for with the text.
func (p pair) check(tb testing.TB, text string) {
	tb.Helper()
	got := p.own.Encode(nil, text)
	if n := p.own.Count(text); n != len(got) {
		tb.Fatalf("%s: count %d, %d ids for %.200q", p.own.Name(), n, len(got), text)
	}
	var back strings.Builder
	for _, id := range got {
		back.Write(rankVocab(p.own).token(int(id)))
	}
	if back.String() != Repair(text) {
		tb.Fatalf("%s: ids do not spell %.200q", p.own.Name(), text)
	}
	if newerThanGo(p.own.enc.(*pieces).model.classes, text) || strings.Contains(text, "'ſ") {
		return // the Rust reference folds U+017F to s, regexp2 does not; see the fixture
	}
	want := p.ref.EncodeOrdinary(Repair(text))
	if len(got) != len(want) {
		tb.Fatalf("%s: %d ids, reference %d for %.200q", p.own.Name(), len(got), len(want), text)
	}
	for i, id := range got {
		if int(id) != want[i] {
			tb.Fatalf("%s: id %d is %d, reference %d in %.200q", p.own.Name(), i, id, want[i], text)
		}
	}
}

// newerThanGo tells whether text has a character that package unicode, which
// the reference here uses, puts into another class than Unicode 16 does.
func newerThanGo(t *class.Table, text string) bool {
	for _, r := range text {
		if t.Of(r) != classInGo(r) {
			return true
		}
	}
	return false
}

// classInGo is the class of r by package unicode.
func classInGo(r rune) class.Class {
	switch {
	case r == '\n' || r == '\r':
		return class.Newline
	case unicode.Is(unicode.White_Space, r):
		return class.Space
	case unicode.Is(unicode.N, r):
		return class.Digit
	case unicode.Is(unicode.Lu, r), unicode.Is(unicode.Lt, r):
		return class.Upper
	case unicode.Is(unicode.Ll, r):
		return class.Lower
	case unicode.Is(unicode.L, r):
		return class.Caseless
	case unicode.Is(unicode.M, r):
		return class.Mark
	}
	return class.Other
}

// documents collects up to n files below root with one of the suffixes, none
// over max bytes.
func documents(tb testing.TB, root string, n, max int, suffixes ...string) []string {
	tb.Helper()
	var out []string
	filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		for _, s := range suffixes {
			if strings.HasSuffix(path, s) {
				if data, err := os.ReadFile(path); err == nil {
					out = append(out, string(data[:min(len(data), max)]))
				}
			}
		}
		if len(out) >= n {
			return filepath.SkipAll
		}
		return nil
	})
	return out
}

// corpus returns texts of many kinds: Go source and documentation, JSON, and
// Unicode test files of the Go distribution, and scripts written below.
func corpus(tb testing.TB) []string {
	root := runtime.GOROOT()
	docs := documents(tb, filepath.Join(root, "src/net"), 25, 6000, ".go")
	docs = append(docs, documents(tb, filepath.Join(root, "src/cmd"), 12, 6000, ".md", ".txt", ".s", ".html")...)
	docs = append(docs, documents(tb, filepath.Join(root, "src/crypto"), 8, 6000, ".json")...)
	if len(docs) < 20 {
		tb.Log("the Go distribution's sources are absent: a smaller corpus")
	}
	return append(docs, scripts()...)
}

// scripts are short texts that exercise one alternative each.
func scripts() []string {
	return []string{
		"", " ", "\n", "a", "hello world", "Hello, World! It's 'sO THAT'S'LL we'Re I'D 'ſ don'ſt",
		"The quick brown fox jumps over the lazy dog.\n\nIt didn't; 12345 times, 3.14159!\r\n\r\n\t x",
		"a\n    \n    b", "x \n \n \ny", "\n\t\n\ty", "  \n  ", "a  b   c    \t d", "\u00a0\u00a0x\u3000\u3000y\u2028z\u0085",
		"HELLOworld camelCase XMLHttpRequest iPhone ABC DEF'S ǅungla ʰABC Aʰʰ中文ABC中a中B",
		"e\u0301\u0301 \u0301ABC \u0301\u0301abc !\u0301! a\u0301'll A\u0301B'VE 1\u0301",
		"我们今天去北京看长城，天气很好。東京タワーは高い。한국어 문장입니다, 그렇죠? ", "ภาษาไทยไม่มีช่องว่างระหว่างคำ สวัสดีครับ",
		"हिन्दी में लिखा गया वाक्य। தமிழ் மொழி ქართული አማርኛ ខ្មែរ မြန်မာ", "שלום עולם مرحبا بالعالم Привет, мир! Γειά σου Κόσμε",
		"👩‍👩‍👧‍👦 🇩🇪🇫🇷 👍🏽 ❤️‍🔥 \U0001F9D1\u200D\U0001F4BB \ufeffBOM \u200b\u200d", "٣٤٥٦ १२३४ ⅷ ½ ²³ 𝟘𝟙𝟚𝟛",
		"\x00\x01\x7f a\x7fb \x1b[31m", "<|endoftext|> <|im_start|>system\n<|fim_prefix|><|endofprompt|>",
		`{"role":"user","content":"C:\\path\\to\\file \u00e9","n":[1,2,3.5e-10],"ok":true}`, "///\n//\n/* x */ a/b/c ../..\n/\r\n/",
		"if (x) {\n\t\treturn foo->bar[i++] += 0xFF;\n\t}\n\n\n#define A\\\n", "QmFzZTY0IGVuY29kZWQgZGF0YQ==/+/+aGVsbG8gd29ybGQ",
		strings.Repeat("=", 300), strings.Repeat("ab", 200), strings.Repeat(" ", 257) + "x", strings.Repeat("\n", 130), strings.Repeat("中", 150),
	}
}
