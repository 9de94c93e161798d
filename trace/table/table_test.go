package table

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type kind uint8

type row struct {
	A int64
	B Opt[int32]
	C int16
	D bool
	E Opt[bool]
	F float64
	G string
	H string
	I kind
	J []int32
}

var kinds = []string{"none", "one", "two"}

func rows() *Table[row] {
	return New("rows",
		Int("a", func(r *row) *int64 { return &r.A }),
		OptInt("b", func(r *row) *Opt[int32] { return &r.B }),
		Int("c", func(r *row) *int16 { return &r.C }),
		Bool("d", func(r *row) *bool { return &r.D }),
		OptBool("e", func(r *row) *Opt[bool] { return &r.E }),
		Float("f", func(r *row) *float64 { return &r.F }),
		OptString("g", func(r *row) *string { return &r.G }),
		String("h", func(r *row) *string { return &r.H }),
		Enum("i", kinds, func(r *row) *kind { return &r.I }),
		Ints("j", func(r *row) *[]int32 { return &r.J }),
	)
}

func random(rng *rand.Rand) row {
	r := row{A: rng.Int64() - 1<<62, C: int16(rng.Uint32()), D: rng.IntN(2) == 0, F: rng.NormFloat64(), H: "", I: kind(rng.IntN(3))}
	if rng.IntN(2) == 0 {
		r.B, r.E, r.G, r.H = Some(int32(rng.Uint32())), Some(rng.IntN(2) == 0), "g\x00ü", "h"
	}
	for range rng.IntN(20) {
		r.J = append(r.J, int32(rng.Uint32()))
	}
	return r
}

func write(t *testing.T, in []row) []byte {
	t.Helper()
	var b bytes.Buffer
	w := rows().NewWriter(&b)
	w.SetMeta("key", "value")
	for _, r := range in {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 511, 512, 513, MaxRowGroup + 3} {
		in := make([]row, n)
		for i := range in {
			in[i] = random(rng)
		}
		data := write(t, in)
		f, err := rows().Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := f.Meta("key"); !ok || v != "value" || f.NumRows() != int64(n) {
			t.Fatalf("meta %q %v, %d rows", v, ok, f.NumRows())
		}
		i := 0
		for r, err := range f.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(r, in[i]) {
				t.Fatalf("row %d of %d: got %+v, want %+v", i, n, r, in[i])
			}
			i++
		}
		if i != n {
			t.Fatalf("%d of %d rows came back", i, n)
		}
		if n < 600 && !bytes.Equal(write(t, in), data) {
			t.Fatal("the same rows gave other bytes")
		}
	}
}

// What is on disk is what artifacts.md asks for: deltas, dictionaries, zstd,
// small row groups.
func TestEncodings(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	in := make([]row, MaxRowGroup+1)
	for i := range in {
		in[i] = random(rng)
	}
	data := write(t, in)
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	groups := f.Metadata().RowGroups
	if len(groups) != 2 || groups[0].NumRows != MaxRowGroup {
		t.Fatalf("%d row groups, the first of %d rows", len(groups), groups[0].NumRows)
	}
	want := map[string]string{"a": "DELTA_BINARY_PACKED", "b": "DELTA_BINARY_PACKED", "c": "DELTA_BINARY_PACKED",
		"g": "RLE_DICTIONARY", "h": "RLE_DICTIONARY", "i": "RLE_DICTIONARY", "j": "DELTA_BINARY_PACKED"}
	for _, c := range groups[0].Columns {
		name := c.MetaData.PathInSchema[0]
		if c.MetaData.Codec.String() != "ZSTD" {
			t.Errorf("column %s is compressed with %v", name, c.MetaData.Codec)
		}
		var have []string
		for _, e := range c.MetaData.Encoding {
			have = append(have, e.String())
		}
		if w := want[name]; w != "" && !strings.Contains(strings.Join(have, " "), w) {
			t.Errorf("column %s is encoded as %v, want %s", name, have, w)
		}
	}
}

func TestRefusesOtherColumns(t *testing.T) {
	type other struct {
		A int64
		B int32
	}
	cases := map[string]*Table[other]{
		`column "b" is missing`: New("t", Int("a", func(r *other) *int64 { return &r.A })),
		`column 2 is "z"`:       New("t", Int("a", func(r *other) *int64 { return &r.A }), Int("z", func(r *other) *int32 { return &r.B })),
		"column 1 is":           New("t", Int("a", func(r *other) *int32 { return &r.B })),
	}
	for want, table := range cases {
		var b bytes.Buffer
		w := table.NewWriter(&b)
		if err := w.Write(other{1, 2}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := rows().Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	data := write(t, []row{{}})
	small := New("t", Int("a", func(r *other) *int64 { return &r.A }))
	if _, err := small.Open(bytes.NewReader(data), int64(len(data))); err == nil || !strings.Contains(err.Error(), `unknown column "b"`) {
		t.Errorf("an unknown column is not refused: %v", err)
	}
	for _, junk := range []string{"", "PAR1", "PAR1PAR1", strings.Repeat("x", 100)} {
		if _, err := rows().Open(strings.NewReader(junk), int64(len(junk))); err == nil {
			t.Errorf("%q was opened", junk)
		}
	}
}

func TestEnumRefusesUnknownNames(t *testing.T) {
	wide := New("rows", Enum("i", []string{"none", "one", "two", "three"}, func(r *row) *kind { return &r.I }))
	var b bytes.Buffer
	w := wide.NewWriter(&b)
	if err := w.Write(row{I: 3}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	narrow := New("rows", Enum("i", kinds, func(r *row) *kind { return &r.I }))
	f, err := narrow.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range f.Rows() {
		if err == nil || !strings.Contains(err.Error(), `row 0: column "i": unknown value`) {
			t.Fatalf("got %v", err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	in := make([]row, 4096)
	for i := range in {
		in[i] = random(rng)
	}
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		w := rows().NewWriter(&out)
		for i := range in {
			if err := w.Write(in[i]); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(in)), "ns/row")
}

func BenchmarkRead(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var out bytes.Buffer
	w := rows().NewWriter(&out)
	const n = 4096
	for range n {
		if err := w.Write(random(rng)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		f, err := rows().Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range f.Rows() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
}
