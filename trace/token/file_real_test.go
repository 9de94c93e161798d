package token

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// realDirs returns the folders with published tokenizers: those below
// $REPRISE_TOKENIZERS, else below shared/tokenizers beside the module. Their
// licences keep them out of this repository. A folder may hold texts.json and
// ids.json, a list of texts and of what the reference gives for each, as in
// testdata/hf.
func realDirs(tb testing.TB) []string {
	root := os.Getenv("REPRISE_TOKENIZERS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "tokenizers")
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		tb.Skipf("no published tokenizers: %v; name their folder in REPRISE_TOKENIZERS", err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(root, e.Name()))
		}
	}
	return dirs
}

// TestRealFiles opens published tokenizers, holds them against recorded ids
// where there are some, and encodes the corpus and unbroken runs.
func TestRealFiles(t *testing.T) {
	for _, dir := range realDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			tok, err := openFile(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, note := range tok.Notes() {
				t.Log(note)
			}
			checkRecorded(t, tok, dir)
			texts := append(corpus(t), fragments(2000)...)
			for _, unit := range []string{"a", " ", "\n", "😀", "ab"} {
				texts = append(texts, strings.Repeat(unit, 1<<18/len(unit)))
			}
			for _, text := range texts {
				if ids := tok.Encode(nil, text); len(ids) != tok.Count(text) {
					t.Errorf("%d ids, count %d for %.100q", len(ids), tok.Count(text), text)
				}
			}
		})
	}
}

func checkRecorded(t *testing.T, tok *Tokenizer, dir string) {
	if _, err := os.Stat(filepath.Join(dir, "ids.json")); err != nil {
		t.Logf("no ids.json: not held against the reference")
		return
	}
	var texts []string
	var ids [][]int32
	readJSON(t, filepath.Join(dir, "texts.json"), &texts)
	readJSON(t, filepath.Join(dir, "ids.json"), &ids)
	if len(texts) != len(ids) {
		t.Fatalf("%d texts, ids for %d", len(texts), len(ids))
	}
	for i, text := range texts {
		if got := tok.Encode(nil, text); ids[i] != nil && !equal(got, ids[i]) {
			t.Errorf("text %d, %.100q: %d ids, reference %d, or others", i, text, len(got), len(ids[i]))
		}
	}
	t.Logf("%d texts held against the reference", len(texts))
}
