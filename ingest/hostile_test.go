package ingest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostile says for every file of testdata/hostile what becomes of it: an error
// with these words, or so many records and these reasons.
func hostile() map[string]string {
	return map[string]string{
		"empty.jsonl":           "error is empty",
		"blank.jsonl":           "error nothing but blank lines",
		"binary.bin":            "error is binary",
		"parquet.bin":           "error has no footer at its end",
		"utf16.csv":             "1 records",
		"cut.jsonl.gz":          "333 records, cut_short at :334",
		"trailer.jsonl.gz":      "4 records, cut_short at :5",
		"bomb.gz":               "error compressed more than 2 times over",
		"twice.gz":              "4 records",
		"members.gz":            "2 records",
		"half_line.jsonl":       "4 records, bad_json at :5",
		"half_first.jsonl":      "4 records, bad_json at :1",
		"nan.jsonl":             "2 records, bad_number at :2",
		"big.jsonl":             "2 records, bad_number at :2",
		"negative.jsonl":        "2 records, bad_number at :2",
		"fraction.jsonl":        "2 records, bad_number at :2",
		"whole_float.jsonl":     "3 records",
		"number_text.jsonl":     "2 records, bad_number at :2",
		"list_for_number.jsonl": "2 records, bad_type at :2",
		"cached_over.jsonl":     "3 records",
		"duplicate_key.jsonl":   "2 records, duplicate_key at :2",
		"bad_time.jsonl":        "2 records, bad_time at :2",
		"day31.jsonl":           "2 records, bad_time at :2",
		"no_time.jsonl":         "3 records",
		"relative_time.jsonl":   "3 records",
		"lone_surrogate.jsonl":  "3 records",
		"not_utf8.jsonl":        "3 records",
		"nul_in_text.jsonl":     "3 records",
		"scalar_row.jsonl":      "2 records, not_an_object at :2",
		"messages_text.jsonl":   "3 records",
		"messages_number.jsonl": "2 records, bad_type at :2",
		"deep.jsonl":            "2 records, bad_json at :2",
		"cut_array.json":        "3 records, cut_short at :1",
		"open_array.json":       "4 records, cut_short at :2",
		"bad_element.json":      "2 records, bad_json at :1",
		"pretty.json":           "2 records",
		"empty_array.json":      "error has no row",
		"unknown.jsonl":         "error columns seen: colour, size, size.large, and 2 that are not listed",
		"no_header.csv":         "error is the header row missing?",
		"text.txt":              "error no known log source",
		"open_quote.csv":        "2 records, bad_csv at :2",
		"stray_quote.csv":       "3 records",
		"fields.csv":            "2 records, wrong_field_count at :3, wrong_field_count at :4",
		"newline_in_quotes.csv": "2 records",
		"header_only.csv":       "0 records",
		"twice_named.csv":       "0 records, duplicate_key at :2",
		"blocks.jsonl":          "2 records, bad_blocks at :3, bad_blocks at :4",
	}
}

// Every hostile file ends as it should, in one line that holds nothing of what
// the customer wrote.
func TestHostile(t *testing.T) {
	dir := filepath.Join("..", "testdata", "hostile")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := hostile()
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) {
			_, recs, rejected, err := readAll(t, Inputs{Paths: []string{filepath.Join(dir, f.Name())}})
			got := fmt.Sprintf("%d records", len(recs))
			all := fmt.Sprint(err)
			for _, r := range rejected {
				got += fmt.Sprintf(", %s at :%d", r.Reason, r.Pos.Line)
				all += "|" + r.Error()
			}
			words, isError := strings.CutPrefix(want[f.Name()], "error ")
			switch {
			case want[f.Name()] == "":
				t.Fatalf("nothing is said of this file; it gives %s, %v", got, err)
			case isError && (err == nil || !strings.Contains(err.Error(), words)):
				t.Fatalf("want an error with %q, got %s, %v", words, got, err)
			case !isError && (err != nil || got != want[f.Name()]):
				t.Fatalf("want %s, got %s, %v", want[f.Name()], got, err)
			case strings.Contains(all, "CANARY"), strings.Contains(all, "\n"):
				t.Fatalf("the error quotes the log: %s", all)
			}
			delete(want, f.Name())
		})
	}
	if len(want) > 0 {
		t.Fatalf("no such files: %v", slices.Sorted(maps.Keys(want)))
	}
}
