package token

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// TestEncodeFixture compares with ids that the npm package tiktoken 1.0.22, the
// Rust reference compiled to WebAssembly, gave for encode_ordinary. Unlike
// tiktoken-go it has the tables of Unicode 16; some texts hold characters that
// 15.1, 16 and 17 added.
func TestEncodeFixture(t *testing.T) {
	data, err := os.ReadFile("testdata/tiktoken.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for line := range bytes.Lines(data) {
			var row map[string]json.RawMessage
			var text string
			var want []int32
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(row["text"], &text); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(row[name], &want); err != nil {
				t.Fatal(err)
			}
			if got := tok.Encode(nil, text); !equal(got, want) {
				t.Errorf("%s: %q is %v, reference %v", name, text, got, want)
			}
			rows++
		}
		if rows < 300 {
			t.Errorf("%d texts", rows)
		}
	}
}
