package keys

import (
	"bytes"
	"slices"
	"testing"

	"reprise/trace"
)

func TestRoundTrip(t *testing.T) {
	rows := []Row{{0, Session, 5}, {0, Block, 1<<63 - 1}, {0, Block, 7}, {3, Parent, 9}, {3, Request, 2}, {4, Model, 1}, {4, Adapter, 8}, {4, Client, 3}}
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	h := Header{Tool: trace.Tool{Name: "reprise"}, Key: "k", Trace: "t", Models: []string{"m"}}
	if err := w.Close(h); err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if f.Header.Key != "k" || f.Header.Trace != "t" || f.Header.Models[0] != "m" || f.NumRows() != int64(len(rows)) {
		t.Errorf("header %+v, %d rows", f.Header, f.NumRows())
	}
	var got []Row
	for part, err := range f.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, part...)
	}
	if !slices.Equal(got, rows) {
		t.Errorf("%v, want %v", got, rows)
	}
}

func TestPath(t *testing.T) {
	for in, want := range map[string]string{"a/mon.trace.parquet": "a/mon.keys.parquet", "mon.parquet": "mon.keys.parquet", "mon": "mon.keys.parquet"} {
		if got := Path(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// FuzzOpen: any bytes are keys or an error.
func FuzzOpen(f *testing.F) {
	var b bytes.Buffer
	w := NewWriter(&b)
	for i := range 20 {
		_ = w.Write(Row{int64(i), What(i % 7), int64(i + 1)})
	}
	if err := w.Close(Header{Key: "k"}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for rows, err := range k.Rows() {
			for _, r := range rows {
				if err == nil && r.What > Block {
					t.Errorf("row of kind %d", r.What)
				}
			}
		}
	})
}
