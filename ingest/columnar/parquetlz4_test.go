package columnar

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Pages of LZ4 that hardly get smaller are read as they were written.
func TestParquetNoiseLZ4(t *testing.T) {
	type row struct {
		A int64   `parquet:"a"`
		B string  `parquet:"b"`
		C []int64 `parquet:"c"`
		D *int32  `parquet:"d,optional"`
	}
	for _, version := range []int{1, 2} {
		for _, n := range []int{1, 50, 300, 5000} {
			rng := rand.New(rand.NewPCG(7, uint64(n)))
			var want []row
			for range n {
				d := rng.Int32()
				r := row{A: rng.Int64N(1 << 50), B: randomText(rng, 40), C: []int64{rng.Int64N(1 << 50), 2}}
				if d%3 > 0 {
					r.D = &d
				}
				want = append(want, r)
			}
			var buf bytes.Buffer
			w := parquet.NewGenericWriter[row](&buf, parquet.Compression(&parquet.Lz4Raw), parquet.DataPageVersion(version),
				parquet.PageBufferSize(4<<10), parquet.MaxRowsPerRowGroup(2000))
			if _, err := w.Write(want); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for range 3 { // what is read must not depend on what a buffer held before
				p, err := readParquet(t.Context(), "x", bytes.NewReader(buf.Bytes()), int64(buf.Len()))
				if err != nil {
					t.Fatal(err)
				}
				for i, r := range want {
					if _, err := p.Next(); err != nil {
						t.Fatalf("version %d, %d rows, row %d: %v", version, n, i, err)
					}
					v := p.Current()
					if v.GetInt64("a") != r.A || string(v.GetStringBytes("b")) != r.B || v.GetInt64("c", "0") != r.C[0] ||
						(r.D != nil && int32(v.GetInt("d")) != *r.D) {
						t.Fatalf("version %d, %d rows, row %d is %s, want %v", version, n, i, v, r)
					}
				}
				p.Close()
			}
		}
	}
}

func randomText(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('!' + rng.IntN(90))
	}
	return string(b)
}

// The place of the size in a header, and headers that are not in order.
func TestUnpackedSize(t *testing.T) {
	if from, to, err := unpackedSize([]byte{0x15, 0x00, 0x15, 0x80, 0x01, 0x15, 0x02}); from != 3 || to != 5 || err != nil {
		t.Error(from, to, err)
	}
	for _, b := range [][]byte{nil, {0x15}, {0x15, 0x00}, {0x15, 0x00, 0x15}, {0x25, 0x00, 0x15, 0x01}, {0x15, 0x00, 0x25, 0x01}, {0x15, 0x80}} {
		if _, _, err := unpackedSize(b); err == nil {
			t.Errorf("% x is taken", b)
		}
	}
}

// Patches are seen wherever a read begins and ends.
func TestPatches(t *testing.T) {
	text := []byte("0123456789abcdef")
	r := &pagedReader{ctx: t.Context(), r: bytes.NewReader(text)}
	r.found = []patch{{11, []byte("XYZ")}, {2, []byte("++")}}
	r.sortPatches()
	want := []byte("01++456789aXYZef")
	for from := range want {
		for to := from + 1; to <= len(want); to++ {
			b := make([]byte, to-from)
			if _, err := r.ReadAt(b, int64(from)); err != nil || !bytes.Equal(b, want[from:to]) {
				t.Fatal(from, to, string(b), err)
			}
		}
	}
}
