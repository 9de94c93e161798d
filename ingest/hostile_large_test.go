package ingest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// repeat is a reader of n bytes of text over and over.
type repeat struct {
	text string
	n    int64
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	k := copy(p[:min(int64(len(p)), r.n)], r.text[r.at:])
	r.at = (r.at + k) % len(r.text)
	r.n -= int64(k)
	return k, nil
}

const mooncakeRow = `{"timestamp":1,"input_length":3,"output_length":4,"hash_ids":[1]}`

// A row of 100 MB is counted and skipped in every text container, and the rows
// around it stand.
func TestHugeRow(t *testing.T) {
	huge := func() io.Reader { return &repeat{text: "x y z ", n: 100 << 20} }
	for name, parts := range map[string][]io.Reader{
		"JSON lines": {strings.NewReader(mooncakeRow + "\n{\"timestamp\":\""), huge(), strings.NewReader("\"}\n" + mooncakeRow)},
		"JSON":       {strings.NewReader("[" + mooncakeRow + ",\n{\"timestamp\":\""), huge(), strings.NewReader("\"}," + mooncakeRow + "]")},
		"CSV":        {strings.NewReader(twoColumns + "1,2\n1,\""), huge(), strings.NewReader("\"\n3,4\n")},
	} {
		l, recs, bad, err := readAll(t, Inputs{Stdin: io.MultiReader(parts...)})
		if err != nil || len(recs) != 2 || len(bad) != 1 || bad[0].Reason != rows.LineTooLong || l.Found()[0].Container != name {
			t.Fatal(name, len(recs), bad, err)
		}
	}
}

// A first row over the limit costs itself alone, and memory is bounded where
// the start of the file is looked at.
func TestHugeFirstRow(t *testing.T) {
	huge := &repeat{text: "x y z ", n: 70 << 20}
	_, recs, bad, err := readAll(t, Inputs{Stdin: io.MultiReader(strings.NewReader("{\"timestamp\":\""), huge, strings.NewReader("\"}\n"+mooncakeRow))})
	if err != nil || len(recs) != 1 || len(bad) != 1 || bad[0].Reason != rows.LineTooLong {
		t.Fatal(len(recs), bad, err)
	}
}

// Small files that unpack to very much are stopped, in every compression.
func TestBombs(t *testing.T) {
	text := func() io.Reader {
		row := "1,1," + strings.Repeat("x", 16<<10) + "\n"
		return io.MultiReader(strings.NewReader("input_tokens,output_tokens,note\n"), &repeat{text: row, n: 32 << 20})
	}
	for name, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
		"s2":   func(w io.Writer) io.WriteCloser { return s2.NewWriter(w, s2.WriterSnappyCompat()) },
	} {
		var b bytes.Buffer
		w := pack(&b)
		if _, err := io.Copy(w, text()); err != nil {
			t.Fatal(err)
		}
		w.Close()
		ratio := int64(32<<20) / int64(b.Len())
		_, recs, _, err := readAll(t, Inputs{Stdin: bytes.NewReader(b.Bytes()), Limits: Limits{Floor: 1 << 20, Ratio: max(ratio/8, 1)}})
		if !source.IsBomb(err) || len(recs) > 2000 || strings.Contains(err.Error(), "\n") {
			t.Fatal(name, ratio, len(recs), err)
		}
	}
}

// Every compression that is read, alone and one in the other, cut at any place:
// an error, or the rows before the cut and a word on it.
func TestCutAnywhere(t *testing.T) {
	plain := strings.Repeat(mooncakeRow+"\n", 300)
	zs, _ := zstd.NewWriter(nil)
	packed := map[string]string{"gzip": gzipped(plain), "zstd": string(zs.EncodeAll([]byte(plain), nil)), "gzip of gzip": gzipped(gzipped(plain))}
	var b bytes.Buffer
	w := s2.NewWriter(&b, s2.WriterSnappyCompat())
	w.Write([]byte(plain))
	w.Close()
	packed["snappy"] = b.String()
	for name, text := range packed {
		for cut := 1; cut < len(text); cut += max(len(text)/12, 1) {
			l, recs, bad, err := readAll(t, Inputs{Stdin: strings.NewReader(text[:cut])})
			said := err != nil || len(bad) > 0 && bad[len(bad)-1].Reason == rows.CutShort && l.Broken() == 1
			if !said || len(recs) > 300 {
				t.Fatalf("%s cut at %d of %d: %d rows, %v, %v", name, cut, len(text), len(recs), bad, err)
			}
		}
	}
}

// What is no log says what it is.
func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		"FEA1\x00\x00\x00\x00more of it FEA1": "Feather file of version 1",
		"Obj\x01\x04":                         "Avro",
		"\xfd7zXZ\x00\x00\x04":                "xz",
		"\x04\x22\x4d\x18\x64\x40":            "lz4",
		"PAR1":                                "cut short",
		"ARROW1\x00\x00":                      "schema cannot be read",
		"\xff\xff\xff\xff\x10\x00\x00\x00\x00\x00\x00\x00": "schema cannot be read",
		"\x89PNG\r\n\x1a\n":                       "a picture",
		"PK\x05\x06" + strings.Repeat("\x00", 18): "has no file in it",
		"": "is empty",
	} {
		_, _, _, err := readAll(t, Inputs{Stdin: strings.NewReader(text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Containers of every kind in one run.
func TestMixed(t *testing.T) {
	dir := plant(t, map[string]string{
		"a.bin": mooncakeRow + "\n",
		"b.bin": "[" + mooncakeRow + "," + mooncakeRow + "]",
		"c.bin": twoColumns + "1,1\n",
		"d.bin": gzipped(`{"data":[` + mooncakeRow + `]}`),
	})
	l, recs, bad, err := readAll(t, Inputs{Paths: []string{dir + "/a.bin", dir, "../testdata/logs/lengths/log.csv"}})
	if err != nil || len(bad) > 0 || len(recs) < 7 {
		t.Fatal(len(recs), bad, err)
	}
	var got []string
	for _, f := range l.Found() {
		got = append(got, fmt.Sprintf("%s %s %d", f.Name, f.Container, f.Files))
	}
	if strings.Join(got, ", ") != "mooncake JSON lines 1, mooncake JSON 2, lengths CSV 2" {
		t.Fatal(got)
	}
}
