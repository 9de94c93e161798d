package ingest

import (
	"bytes"
	"strings"
	"testing"

	"reprise/ingest/source"
)

// No archive makes the reader panic, hang or unpack more than its limits allow.
func FuzzArchive(f *testing.F) {
	dir := plant(f, map[string]string{"a.csv": twoColumns + "1,2\n", "b/c.jsonl.gz": gzipped(`{"timestamp":1,"input_length":3,"output_length":4,"hash_ids":[1]}`)})
	f.Add([]byte(tarred(f, dir)))
	f.Add([]byte(zipped(f, dir)))
	f.Add([]byte(gzipped(tarred(f, dir))))
	known, err := schemas()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := Limits{Floor: 1 << 20, Ratio: 100, Total: 8 << 20}
		l := &Log{ctx: t.Context(), in: Inputs{Stdin: bytes.NewReader(data), Limits: limits}, known: known,
			files: []source.Input{{Path: "-", Named: true}}, held: map[int]*source.Source{}, looked: map[string]look{}}
		defer l.drop()
		if err := l.lookAll(); err != nil {
			return
		}
		n := 0
		for _, err := range l.Records() {
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of several lines: %v", err)
			}
			if n++; n > 10_000 {
				return
			}
		}
	})
}
