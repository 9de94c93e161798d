package token

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// fileCases are the small tokenizers of testdata/hf and the names of their ids.
func fileCases(tb testing.TB) map[string]string {
	tb.Helper()
	const dir = "testdata/hf"
	cases := map[string]string{
		"kimi_ranks": dir + "/kimi.tiktoken:kimi", "qwen2_ranks": dir + "/qwen2.tiktoken:qwen",
	}
	files, err := filepath.Glob(dir + "/*.json")
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".json"); name != "texts" {
			cases[name] = f
		}
	}
	if len(cases) < 21 {
		tb.Fatalf("%d small tokenizers in %s", len(cases), dir)
	}
	return cases
}

func readJSON(tb testing.TB, path string, v any) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		tb.Fatal(err)
	}
}

// TestFilesMatchReference holds every kind of file against the ids that the
// reference implementations gave.
func TestFilesMatchReference(t *testing.T) {
	var texts []string
	readJSON(t, "testdata/hf/texts.json", &texts)
	for name, path := range fileCases(t) {
		t.Run(name, func(t *testing.T) {
			tok, err := openFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var ids [][]int32
			readJSON(t, "testdata/hf/ids/"+name+".json", &ids)
			if len(ids) != len(texts) || len(texts) < 200 {
				t.Fatalf("%d texts, ids for %d", len(texts), len(ids))
			}
			compared := 0
			for i, text := range texts {
				if ids[i] == nil {
					continue
				}
				compared++
				if got := tok.Encode(nil, text); !equal(got, ids[i]) {
					t.Errorf("text %d, %q: %v, reference %v", i, text, got, ids[i])
				}
				if n := tok.Count(text); n != len(ids[i]) {
					t.Errorf("text %d, %q: count %d, %d ids", i, text, n, len(ids[i]))
				}
			}
			if compared < len(texts)*3/4 {
				t.Errorf("%d of %d texts compared", compared, len(texts))
			}
		})
	}
}

// TestFilesShareAmongGoroutines encodes with one tokenizer from several
// goroutines; the race detector watches.
func TestFilesShareAmongGoroutines(t *testing.T) {
	var texts []string
	readJSON(t, "testdata/hf/texts.json", &texts)
	for _, name := range []string{"qwen2", "llama2", "gemma3", "metaspace", "other"} {
		tok, err := openFile("testdata/hf/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int, len(texts))
		for i, text := range texts {
			want[i] = tok.Count(text)
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range texts {
					i = (i + g*17) % len(texts)
					if n := len(tok.Encode(nil, texts[i])); n != want[i] {
						t.Errorf("%s: text %d has %d ids, %d alone", name, i, n, want[i])
					}
				}
			})
		}
		wg.Wait()
	}
}
