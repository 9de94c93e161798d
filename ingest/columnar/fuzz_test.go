package columnar

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// addFiles gives a fuzz target the files that match as seeds, when they are here.
func addFiles(f *testing.F, patterns ...string) {
	f.Helper()
	for _, p := range patterns {
		files, _ := filepath.Glob(p)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) < 20_000 {
				f.Add(data)
			}
		}
	}
}

// exhaust reads rows to their end and checks how they are counted.
func exhaust(t *testing.T, r rows.Reader) {
	t.Helper()
	for n := int64(1); n < 100_000; n++ {
		pos, err := r.Next()
		var row *rows.Error
		if err != nil && !errors.As(err, &row) {
			if !errors.Is(err, io.EOF) && !source.IsBroken(err) {
				t.Fatalf("not said to be damage: %v", err)
			}
			return
		}
		if pos.Item != n {
			t.Fatalf("row %d is at %+v", n, pos)
		}
		if err == nil {
			r.Names(func(string) {})
		}
	}
}

// No damage to a Parquet file makes it panic, hang or take memory that it does
// not need.
func FuzzParquet(f *testing.F) {
	addFiles(f, "../../testdata/columnar/*.parquet", "../../../shared/data/parquet-testing/*.parquet")
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readParquet(t.Context(), "day=1/f", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		defer p.Close()
		exhaust(t, p)
	})
}

func FuzzArrow(f *testing.F) {
	addFiles(f, "../../testdata/columnar/*.feather", "../../testdata/columnar/*.arrows", "../../testdata/columnar/*.arrow")
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := arrowStream("f", bytes.NewReader(data))
		if IsArrowFile(data) {
			r, err = readArrow(t.Context(), "f", bytes.NewReader(data), int64(len(data)))
		}
		if err != nil {
			if !source.IsBroken(err) {
				t.Fatal(err)
			}
			return
		}
		defer r.(rows.Closer).Close()
		exhaust(t, r)
	})
}
