package token

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/trace/token/class"
	"reprise/trace/token/regex"
)

// tinyHF is a tokenizer.json of four tokens with parts replaced.
func tinyHF(parts map[string]any) []byte {
	f := map[string]any{
		"version": "1.0", "added_tokens": []any{}, "normalizer": nil, "pre_tokenizer": nil,
		"model": map[string]any{"type": "BPE", "vocab": map[string]int{"a": 0, "b": 1, "c": 2, "ab": 3}, "merges": []string{"a b"}},
	}
	for k, v := range parts {
		if v == "absent" {
			delete(f, k)
			continue
		}
		f[k] = v
	}
	out, _ := json.Marshal(f)
	return out
}

type object = map[string]any

func openBytes(tb testing.TB, name string, data []byte) (*Tokenizer, error) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return openFile(path)
}

func TestTinyFile(t *testing.T) {
	tok, err := openBytes(t, "tokenizer.json", tinyHF(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tok.Encode(nil, "abcab-a"), []int32{3, 2, 3, 0}; !equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestOpenFilesByName(t *testing.T) {
	tok, err := Open("testdata/hf/other.json")
	if err != nil {
		t.Fatal(err)
	}
	if notes := tok.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "interpreted") {
		t.Errorf("notes %q of a file with an unknown pattern", notes)
	}
	if tok, err = Open("testdata/hf/kimi.tiktoken:kimi"); err != nil || len(tok.Notes()) != 0 {
		t.Errorf("a file of ranks with its pattern: %v, error %v", tok, err)
	}
	if _, err := Open("testdata/hf/absent.json"); err == nil || !strings.Contains(err.Error(), "neither") {
		t.Errorf("a file that is absent: error %v", err)
	}
}

// TestFileNeeds checks that a file is refused by the name of what it needs, in
// one line.
func TestFileNeeds(t *testing.T) {
	model := func(more object) object {
		m := object{"type": "BPE", "vocab": object{"a": 0}, "merges": []any{}}
		for k, v := range more {
			m[k] = v
		}
		return object{"model": m}
	}
	split := func(re string) object {
		return object{"pre_tokenizer": object{"type": "Split", "pattern": object{"Regex": re}, "behavior": "Isolated", "invert": false}}
	}
	for _, c := range []struct {
		want  string
		parts object
	}{
		{"a model of type Unigram", object{"model": object{"type": "Unigram", "vocab": []any{}}}},
		{"a model of type WordPiece", object{"model": object{"type": "WordPiece", "vocab": object{}}}},
		{"no key \"model\"", object{"model": "absent"}},
		{"no vocab or no merges", object{"model": object{"type": "BPE"}}},
		{"dropout", model(object{"dropout": 0.1})},
		{"continuing_subword_prefix", model(object{"continuing_subword_prefix": "##"})},
		{"end_of_word_suffix", model(object{"end_of_word_suffix": "</w>"})},
		{"key \"surprise\"", model(object{"surprise": 1})},
		{"key \"surprise\"", object{"surprise": 1}},
		{"merges: entry 0", model(object{"merges": []string{"a q"}})},
		{"one space", model(object{"merges": []string{"a b c"}})},
		{"two tokens", model(object{"merges": [][]string{{"a"}}})},
		{"whole number", model(object{"vocab": object{"a": -1}})},
		{"number over", model(object{"vocab": object{"a": 1 << 40}})},
		{"the normalizer BertNormalizer", object{"normalizer": object{"type": "BertNormalizer"}}},
		{"the normalizer Lowercase", object{"normalizer": object{"type": "Sequence", "normalizers": []any{object{"type": "Lowercase"}}}}},
		{"Replace normalizer by a regular expression", object{"normalizer": object{"type": "Replace", "pattern": object{"Regex": " +"}, "content": " "}}},
		{"lengthen text", object{"normalizer": object{"type": "Replace", "pattern": object{"String": "a"}, "content": strings.Repeat("a", 100)}}},
		{"prepend_scheme first after", object{"normalizer": object{"type": "Strip", "strip_left": true, "strip_right": false},
			"pre_tokenizer": object{"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"}}},
		{"normalizing leaves nothing", object{"normalizer": object{"type": "Strip", "strip_left": true, "strip_right": true},
			"added_tokens": []any{object{"content": " ", "id": 4, "normalized": true}}}},
		{"the pre-tokenizer Whitespace", object{"pre_tokenizer": object{"type": "Whitespace"}}},
		{"after ByteLevel", object{"pre_tokenizer": object{"type": "Sequence", "pretokenizers": []any{object{"type": "ByteLevel"}, object{"type": "Digits"}}}}},
		{"the split behavior Sideways", object{"pre_tokenizer": object{"type": "Split", "pattern": object{"String": "a"}, "behavior": "Sideways"}}},
		{"the anchor", split(`^a`)},
		{"the anchor", split(`a+$`)},
		{`the escape \w`, split(`\w+`)},
		{`the escape \b`, split(`a\b`)},
		{"an intersection of sets", split(`[\p{L}&&[^a]]`)},
		{"a set within a set", split(`[a[bc]]`)},
		{"a look-ahead over", split(`a(?=bc)`)},
		{"the group (?<", split(`(?<=a)b`)},
		{"possessive", split(`a++`)},
		{"character property \"Nonsense\"", split(`\p{Nonsense}`)},
		{"matches the empty string", split(`a*`)},
		{"may be empty", split(`(?:a?)+b`)},
		{"a group is not closed", split(`(a`)},
		{"a parenthesis is not opened", split(`a)`)},
		{"a set is not closed", split(`[a`)},
		{"as many repetitions", split(`a{1000}`)},
		{"wrong type", object{"added_tokens": []any{object{"content": 3}}}},
	} {
		_, err := openBytes(t, "tokenizer.json", tinyHF(c.parts))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q in one line", err, c.want)
		}
	}
}

func TestFileBroken(t *testing.T) {
	whole := string(tinyHF(nil))
	for i := range len(whole) {
		if _, err := openBytes(t, "tokenizer.json", []byte(whole[:i])); err == nil {
			t.Errorf("the first %d of %d bytes open", i, len(whole))
		}
	}
	for _, data := range []string{
		whole + "x", "[]", "", "\x00\x01\x02", strings.Repeat("[", 1<<16), strings.Repeat(`{"model":`, 1<<12),
		`{"model":{},"model":{}}`, `{"model":{"type":"BPE","type":"BPE"}}`, "YQ== 0\nYg==\n", "!! 0\n",
	} {
		if _, err := openBytes(t, "tokenizer.json", []byte(data)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: error %v", data, err)
		}
	}
}

// TestRankFilePattern checks how the pattern of a rank file is found.
func TestRankFilePattern(t *testing.T) {
	data, err := os.ReadFile("testdata/hf/kimi.tiktoken")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "tiktoken.model")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openFile(path); err == nil || !strings.Contains(err.Error(), "name the pattern after the path") {
		t.Errorf("without a pattern: %v", err)
	}
	if _, err := openFile(path + ":nonsense"); err == nil || !strings.Contains(err.Error(), `no pattern "nonsense"`) {
		t.Errorf("with an unknown pattern: %v", err)
	}
	config := `{"auto_map":{"AutoTokenizer":["tokenization_kimi.TikTokenTokenizer",null]}}`
	if err := os.WriteFile(filepath.Join(dir, "tokenizer_config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	named, err := openFile("testdata/hf/kimi.tiktoken:kimi")
	if err != nil {
		t.Fatal(err)
	}
	found, err := openFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	const text = "中文ABC中a don't 12345"
	if a, b := named.Encode(nil, text), found.Encode(nil, text); !equal(a, b) || named.SHA256() != found.SHA256() {
		t.Errorf("named %v, found beside the configuration %v", a, b)
	}
}

// TestFileLongRuns would take minutes if a step were quadratic.
func TestFileLongRuns(t *testing.T) {
	for name, path := range fileCases(t) {
		tok, err := openFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []string{"a", " ", "\n", "中", "\u0301", "<", "=", "'"} {
			text := strings.Repeat(unit, 1<<16/len(unit))
			if n := tok.Count(text); n > len(text)+1 { // one for a space put before
				t.Errorf("%s: %d bytes of %q are %d tokens", name, len(text), unit, n)
			}
		}
	}
}

// FuzzOpenHF opens hostile files: an error or a tokenizer, never a panic.
func FuzzOpenHF(f *testing.F) {
	f.Add(tinyHF(nil), "abc")
	for _, name := range []string{"gpt2", "flags", "llama2", "gemma3", "other", "deepseek", "metaspace"} {
		data, err := os.ReadFile("testdata/hf/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "the <s>\u0301 ▁ab中文1234")
	}
	classes, err := class.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		enc, _, err := newHF(data, classes)
		if err != nil {
			return
		}
		text = Repair(text)
		if ids := enc.encode(nil, text); len(ids) != enc.count(text) {
			t.Errorf("%d ids, count %d", len(ids), enc.count(text))
		}
	})
}

// FuzzOpenRanks does the same for tekken.json and rank files.
func FuzzOpenRanks(f *testing.F) {
	for _, name := range []string{"tekken.json", "kimi.tiktoken"} {
		data, err := os.ReadFile("testdata/hf/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "the <s>\u0301 ab中文1234")
	}
	classes, err := class.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		text = Repair(text)
		if enc, _, err := newTekken(data, classes); err == nil && len(enc.encode(nil, text)) != enc.count(text) {
			t.Error("tekken: count differs from encode")
		}
		for _, p := range rankPatterns() {
			if enc, _, err := newTiktoken(data, p, classes); err == nil && len(enc.encode(nil, text)) != enc.count(text) {
				t.Error("ranks: count differs from encode")
			}
		}
	})
}

// FuzzRegex holds the interpreted patterns against the scanners of the same
// expressions.
func FuzzRegex(f *testing.F) {
	for _, s := range scripts() {
		f.Add(s)
	}
	classes, err := class.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = Repair(text)
		for _, pattern := range []string{patternGPT2, patternCL100K, patternQwen2, patternQwen35, patternO200K, patternTekken} {
			if newerThanGo(classes, text) {
				return
			}
			re, err := regex.Compile(pattern, classes)
			if err != nil {
				t.Fatal(err)
			}
			scan, _ := knownPattern(pattern)
			at := 0
			for start, end := range re.All(text) {
				if start != at || scan(classes, text, at) != end {
					t.Fatalf("%.30s: %q: interpreted %d to %d, scanner %d", pattern, text, start, end, scan(classes, text, at))
				}
				at = end
			}
			if at != len(text) {
				t.Fatalf("%.30s: %q: interpreted to %d of %d", pattern, text, at, len(text))
			}
		}
	})
}
