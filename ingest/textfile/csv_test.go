package textfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// Whatever the standard library writes as CSV is read back field by field.
func TestCSVAgainstStandard(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	alphabet := []string{"a", `"`, ",", "\n", " ", "é", "", "{", "x;y"}
	for range 300 {
		var buf bytes.Buffer
		w := csv.NewWriter(&buf)
		var want [][]string
		for range 1 + rng.IntN(5) {
			row := make([]string, 3)
			for i := range row {
				for range rng.IntN(6) {
					row[i] += alphabet[rng.IntN(len(alphabet))]
				}
			}
			row[2] += "z" // no row is blank
			want = append(want, row)
			w.Write(row)
		}
		w.Flush()
		r, err := OpenCSV(&source.Source{Name: "f"}, strings.NewReader("a,b,c\n"+buf.String()))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range want {
			if _, err := r.Next(); err != nil {
				t.Fatalf("%q: %v", buf.String(), err)
			}
			got := cellsOf(r)
			if !slices.Equal(got, row) {
				t.Fatalf("got %q, want %q", got, row)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("after the last row: %v", err)
		}
	}
}

// A row over the limit is counted and the next one is whole, in each container.
func TestTooLong(t *testing.T) {
	l := NewLines(strings.NewReader("short\n"+strings.Repeat("x", 700_000)+"\r\nnext\r\nend"), 1000)
	for i, want := range []string{"short", "", "next", "end"} {
		line, tooLong, err := l.Next()
		if err != nil || string(line) != want || tooLong != (i == 1) || l.Line != int64(i+1) {
			t.Fatalf("line %d: %q %v %v", i, line, tooLong, err)
		}
	}
	if l.Start != 6+700_002+6 {
		t.Fatalf("the last line begins at %d", l.Start)
	}
	r, err := OpenJSON(&source.Source{Name: "f"}, strings.NewReader(`[{"a":"`+strings.Repeat("x", 5000)+`"},{"a":1}]`))
	if err != nil {
		t.Fatal(err)
	}
	r.(*values).limit = 1000
	var row *rows.Error
	if _, err := r.Next(); !errors.As(err, &row) || row.Reason != rows.LineTooLong {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
}

// CSV as it comes, by what becomes of its cells.
func TestCSVForms(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\r\n1,x\r\n":                         "[1 x]",
		"a,b\r\r\n1,x\r\r\n":                     "[1 x]",
		"\ufeffa;b\n1;x,y\n":                     "[1 x,y]",
		"a\tb\n1\tx\n":                           "[1 x]",
		"a|b\n1|x\n":                             "[1 x]",
		"a,b\n1,\"x\r\ny, \"\"z\"\"\"\n2,w":      "[1 x\ny, \"z\"] [2 w]",
		"a,b\n1,5\" disk\n2,\"a\"\n":             "[1 5\" disk] [2 a]",
		"a,b\n1,\"say \"hi\" now\"\n2,x\n":       "[1 say \"hi\" now] [2 x]",
		"a,b\n1,\"never closed\n2,x\n3,y\n":      "bad_csv [2 x] [3 y]",
		"a,b\n1,\"stray\"quote, open\n2,\"x\"\n": "bad_csv [2 x]",
		"a,b\n1\n2,x,y\n3,z\n":                   "wrong_field_count wrong_field_count [3 z]",
		"a,b\n\"\",\n":                           "[ ]",
		"2026-03-02T14:05:11Z,12\n,7\n":          "[2026-03-02T14:05:11Z 12] [ 7]",
		"0,1\nx,y\n":                             "[x y]",
	} {
		r, err := OpenCSV(&source.Source{Name: "f"}, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			_, err := r.Next()
			var row *rows.Error
			if errors.As(err, &row) {
				got = append(got, string(row.Reason))
				continue
			}
			if err != nil {
				break
			}
			got = append(got, fmt.Sprintf("%s", cellsOf(r)))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, strings.Join(got, " "), want)
		}
	}
}

// A cell of many MB is one cell, and a file of quotes that are never closed is
// read in time that grows with its length.
func TestCSVLarge(t *testing.T) {
	cell := strings.Repeat("line one, \"\"quoted\"\"\n", 1<<18)
	r, err := OpenCSV(&source.Source{Name: "f"}, strings.NewReader("a,b\n1,\""+cell+"\"\n2,x\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil || len(cellsOf(r)[1]) != len(cell)-2<<18 {
		t.Fatal(err)
	}
	r, err = OpenCSV(&source.Source{Name: "f"}, strings.NewReader("a,b\n"+strings.Repeat("1,\"x\n", 20_000)))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		}
		n++
	}
	if n != 20_000 {
		t.Fatal(n)
	}
}

// cellsOf are the fields of a table's current row.
func cellsOf(r rows.Reader) []string {
	t := r.(*table)
	var out []string
	for _, f := range t.fields {
		out = append(out, string(t.chunk.buf[f.from:f.to]))
	}
	return out
}
