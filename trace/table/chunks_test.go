package table

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestChunksAreRows: column by column come the rows that Rows yields, with what
// was not asked for left zero.
func TestChunksAreRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 5000, MaxRowGroup + 3} {
		in := make([]row, n)
		for i := range in {
			in[i] = random(rng)
			if rng.IntN(4) == 0 {
				in[i].J = nil
			}
		}
		data := write(t, in)
		f, err := rows().Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		names := rows().Columns()
		for range 3 {
			rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			some := names[:1+rng.IntN(len(names))]
			at := 0
			for part, err := range f.Chunks(some...) {
				if err != nil {
					t.Fatal(err)
				}
				for i := range part {
					if want := only(in[at], some); !reflect.DeepEqual(part[i], want) {
						t.Fatalf("row %d of %d: got %+v, want %+v", at, n, part[i], want)
					}
					at++
				}
			}
			if at != n {
				t.Fatalf("%d of %d rows came back", at, n)
			}
		}
	}
}

// only keeps the named columns of a row.
func only(r row, names []string) row {
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		if !slices.Contains(names, string(v.Type().Field(i).Name[0]+'a'-'A')) {
			v.Field(i).SetZero()
		}
	}
	return r
}

func TestChunksRefuse(t *testing.T) {
	data := write(t, []row{{}})
	f, err := rows().Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range f.Chunks("a", "nothing") {
		if err == nil {
			t.Fatal("a column that is not there is read")
		}
	}
}

// FuzzChunks damages files: an error or rows, never a panic.
func FuzzChunks(f *testing.F) {
	rng := rand.New(rand.NewPCG(4, 4))
	in := make([]row, 300)
	for i := range in {
		in[i] = random(rng)
	}
	var b bytes.Buffer
	w := rows().NewWriter(&b)
	for _, r := range in {
		if err := w.Write(r); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	data := b.Bytes()
	for at := 4; at < len(data); at += len(data) / 60 {
		f.Add(at, byte(1+rng.IntN(255)))
	}
	f.Fuzz(func(t *testing.T, at int, by byte) {
		bad := bytes.Clone(data)
		bad[uint(at)%uint(len(bad))] ^= by
		x, err := rows().Open(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			return
		}
		for part, err := range x.Chunks(rows().Columns()...) {
			if err == nil && len(part) > 1<<20 {
				t.Fatal("more rows than can be")
			}
		}
	})
}
