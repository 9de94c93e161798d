package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

func lengthRow(n string) string {
	return `{"timestamp":"2026-03-02T14:05:1` + n + `Z","input_tokens":` + n + `,"output_tokens":4}`
}

// rowsOf reads a log of rows whose input_tokens are 1, 2, 3, ...
func rowsOf(t *testing.T, what, text string, want int) []Record {
	t.Helper()
	_, recs, bad, err := fromText(t, text, nil)
	if err != nil || len(recs) != want || len(bad) != 0 {
		t.Fatalf("%s: %d rows of %d, bad %v, %v", what, len(recs), want, bad, err)
	}
	for i, r := range recs {
		if r.InputTokens.V != int32(i+1) || r.Pos.Item != int64(i+1) {
			t.Errorf("%s: row %d has %d tokens at %v", what, i+1, r.InputTokens.V, r.Pos)
		}
	}
	return recs
}

// Objects one after the other on a line are rows, whether on one line of many or
// on the only one (Firehose), and a text that looks like the border is not cut.
func TestObjectsOnALine(t *testing.T) {
	a, b, c := lengthRow("1"), lengthRow("2"), lengthRow("3")
	long := strings.Replace(a, `{`, `{"prompt":"`+strings.Repeat("x", 300<<10)+`",`, 1)
	for what, text := range map[string]string{
		"first line":  a + b + "\n" + c + "\n",
		"later line":  a + "\n" + b + c + "\n",
		"one line":    a + b + c,
		"blanks":      a + "\n" + b + " " + c,
		"separators":  "\x1e" + a + "\n\x1e" + b + "\n\x1e" + c,
		"three":       a + "\n" + b + c + "\n\n",
		"a long one":  long + b + c,
		"in a string": a + "\n" + strings.Replace(b, `{`, `{"prompt":"a }{ b",`, 1) + c,
	} {
		rowsOf(t, what, text, 3)
	}
	recs := rowsOf(t, "text", strings.Replace(a, `{`, `{"prompt":"f(){}{}} {\"",`, 1)+"\n"+b, 2)
	if recs[0].Prompt != `f(){}{}} {"` {
		t.Errorf("%q", recs[0].Prompt)
	}
}

// A bad row among the first is named with its file.
func TestSampleErrorNamesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.json")
	if err := os.WriteFile(path, []byte(`{"a":nope}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Inputs{Paths: []string{path}}); err == nil || !strings.HasPrefix(err.Error(), path) {
		t.Error(err)
	}
}

// Zero bytes are what copytruncate and crashes leave; rows around them stand.
func TestHoles(t *testing.T) {
	a, b := lengthRow("1")+"\n", lengthRow("2")+"\n"
	zeros := strings.Repeat("\x00", 300<<10)
	head := "timestamp,input_tokens,output_tokens,prompt\n"
	x, y := "2026-03-02T14:05:11Z,1,4,a\n", "2026-03-02T14:05:12Z,2,4,b\n"
	for what, text := range map[string]string{
		"before": zeros + a + b, "between": a + zeros + b, "a line": a + "\x00\x00\n" + b, "behind": a + b + zeros,
		"few": "\x00\x00\x00" + a + b, "one line": strings.TrimSpace(a) + zeros + strings.TrimSpace(b),
		"csv before": zeros + head + x + y, "csv between": head + x + zeros + y, "csv behind": head + x + y + zeros,
		"csv cell": head + strings.Replace(x, ",a", ",a\x00a", 1) + y,
	} {
		recs := rowsOf(t, what, text, 2)
		if what == "before" && recs[0].Pos.Byte != int64(len(zeros)) {
			t.Error(what, recs[0].Pos.Byte)
		}
	}
	if _, err := Open(t.Context(), Inputs{Stdin: strings.NewReader(zeros)}); err == nil || !strings.Contains(err.Error(), "zero bytes") {
		t.Error(err)
	}
	if _, err := Open(t.Context(), Inputs{Stdin: strings.NewReader(strings.Repeat("ab\x00c", 2000))}); err == nil || !strings.Contains(err.Error(), "binary") {
		t.Error(err)
	}
}

// Zero bytes behind a gzip file, or between its members, are nothing; anything
// else there is damage.
func TestGzipPadding(t *testing.T) {
	a, b := gzipped(lengthRow("1")+"\n"), gzipped(lengthRow("2")+"\n")
	pad := strings.Repeat("\x00", 100<<10)
	rowsOf(t, "none", a+b, 2)
	rowsOf(t, "behind", a+b+pad, 2)
	rowsOf(t, "between", a+pad+b, 2)
	for what, data := range map[string]string{"garbage": a + "garbage", "cut header": a + b[:5]} {
		l, recs, bad, err := fromText(t, data, nil)
		if err != nil || len(recs) != 1 || len(bad) != 1 || bad[0].Reason != rows.CutShort || l.Broken() == 0 {
			t.Errorf("%s: %d %v %v", what, len(recs), bad, err)
		}
	}
}

// Records of OpenTelemetry's file exporter with compression: a length and zstd.
func TestFramedZstd(t *testing.T) {
	frame := func(text string) []byte {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		b := w.EncodeAll([]byte(text), nil)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	var data []byte
	for _, n := range []string{"1", "2", "3"} {
		data = append(data, frame(lengthRow(n))...)
	}
	rowsOf(t, "framed", string(data), 3)
	rowsOf(t, "with line ends", string(append(frame(lengthRow("1")+"\n"), frame(lengthRow("2")+"\n")...)), 2)
	l, recs, bad, err := fromText(t, string(data[:len(data)-3]), nil)
	if err != nil || len(recs) != 2 || len(bad) == 0 || l.Broken() == 0 {
		t.Error(len(recs), bad, err)
	}
	_, err = Open(t.Context(), Inputs{Stdin: bytes.NewReader(frame("\x0a\x05proto"))})
	if err == nil || !strings.Contains(err.Error(), "format: json") {
		t.Error(err)
	}
}

func FuzzLayers(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x10\x28\xb5\x2f\xfd"))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x00{}{}\n{}{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := source.New(t.Context(), "f", bytes.NewReader(data), Limits{}, nil)
		if err != nil {
			return
		}
		defer s.Drop()
		if c, err := containerOf(s, nil); err == nil && !c.whole {
			if r, err := c.start(s); err == nil {
				readOut(t, r)
			}
		}
	})
}

// readOut reads rows to their end and checks how they are counted.
func readOut(t *testing.T, r rows.Reader) {
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
