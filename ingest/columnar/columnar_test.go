package columnar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/valyala/fastjson"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// columnarRows reads all rows of a columnar file as JSON.
func columnarRows(t testing.TB, path string) []any {
	t.Helper()
	s, err := source.Open(t.Context(), path, source.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Drop()
	var list rows.Reader
	switch head := s.Peek(64); {
	case IsParquet(head):
		list, err = OpenParquet(s)
	case IsArrowFile(head):
		list, err = OpenArrowFile(s)
	case IsArrowStream(head):
		list, err = OpenArrowStream(s, s.Reader())
	default:
		t.Fatal("no columnar file")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer list.(rows.Closer).Close()
	out, err := drain(list)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func drain(list rows.Reader) ([]any, error) {
	var out []any
	for {
		_, err := list.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, plainValue(list.(rows.ValueReader).Current()))
	}
}

// plainValue is what encoding/json would make of a value.
func plainValue(v *fastjson.Value) any {
	switch v.Type() {
	case fastjson.TypeObject:
		out := map[string]any{}
		v.GetObject().Visit(func(k []byte, v *fastjson.Value) { out[string(k)] = plainValue(v) })
		return out
	case fastjson.TypeArray:
		out := []any{}
		for _, v := range v.GetArray() {
			out = append(out, plainValue(v))
		}
		return out
	case fastjson.TypeString:
		return string(v.GetStringBytes())
	case fastjson.TypeNumber:
		return json.Number(v.MarshalTo(nil))
	case fastjson.TypeNull:
		return nil
	}
	return v.GetBool()
}

func decodeJSON(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// alike compares values: numbers by value, floats of 32 bits by theirs, and
// decimals by their digits.
func alike(got, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		if d, ok := w["decimal"]; ok {
			n, is := got.(json.Number)
			return is && n.String() == d
		}
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for k := range w {
			if v, there := g[k]; !there || !alike(v, w[k]) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !alike(g[i], w[i]) {
				return false
			}
		}
		return true
	case json.Number:
		g, ok := got.(json.Number)
		if !ok || g == w {
			return ok
		}
		x, _ := strconv.ParseFloat(g.String(), 64)
		y, _ := strconv.ParseFloat(w.String(), 64)
		return x == y || float32(x) == float32(y) && !strings.ContainsAny(w.String()[:1], "e") && strings.ContainsAny(w.String(), ".e")
	}
	return got == want
}

type expected struct {
	Rows  int   `json:"rows"`
	First []any `json:"first"`
	Last  []any `json:"last"`
}

// The values of the files of parquet-testing are those that pyarrow reads.
func TestParquetTesting(t *testing.T) {
	data, err := os.ReadFile("../../testdata/columnar/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var want map[string]expected
	if err := d.Decode(&want); err != nil || len(want) != 17 {
		t.Fatal(len(want), err)
	}
	for name, w := range want {
		t.Run(name, func(t *testing.T) {
			got := columnarRows(t, sharedFile(t, name))
			if len(got) != w.Rows {
				t.Fatalf("%d rows, want %d", len(got), w.Rows)
			}
			for i := range w.First {
				if !alike(got[i], w.First[i]) {
					t.Fatalf("row %d:\n got %v\nwant %v", i, got[i], w.First[i])
				}
			}
			for i := range w.Last {
				if at := len(got) - len(w.Last) + i; !alike(got[at], w.Last[i]) {
					t.Fatalf("row %d:\n got %v\nwant %v", at, got[at], w.Last[i])
				}
			}
		})
	}
}

// One log in every columnar container gives the rows that pyarrow wrote.
func TestColumnarLog(t *testing.T) {
	data, err := os.ReadFile("../../testdata/columnar/log.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := decodeJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	want := v.([]any)
	for _, name := range []string{"log.parquet", "log.lz4.feather", "log.zstd.feather", "log.arrows", "more.arrows"} {
		got := columnarRows(t, filepath.Join("..", "..", "testdata", "columnar", name))
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows", name, len(got))
		}
		for i := range want {
			row := got[i].(map[string]any)
			if name == "more.arrows" {
				if row["big"] != row["model"] || row["view"] != row["model"] || fmt.Sprint(row["large"]) != fmt.Sprint(row["messages"]) {
					t.Fatalf("%v", row)
				}
				delete(row, "big")
				delete(row, "view")
				delete(row, "large")
			}
			if !alike(got[i], want[i]) {
				t.Fatalf("%s row %d:\n got %v\nwant %v", name, i, got[i], want[i])
			}
		}
	}
}

// sharedFile is a file of parquet-testing, which is kept beside the project.
func sharedFile(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "parquet-testing", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED, not tested: %s is not here", name)
	}
	return path
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
