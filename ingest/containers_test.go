package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"

	"reprise/ingest/rows"
	"reprise/ingest/source"
	"reprise/ingest/textfile"
)

func fromText(t testing.TB, text string, m *Mapping) (*Log, []Record, []*rows.Error, error) {
	t.Helper()
	return readAll(t, Inputs{Stdin: strings.NewReader(text), Map: m})
}

// The same rows come out of every container and compression.
func TestSameRows(t *testing.T) {
	objects := []string{`{"timestamp":1,"input_length":3,"output_length":4,"hash_ids":[1]}`, `{"timestamp":2,"input_length":5,"output_length":6,"hash_ids":[1]}`}
	gz := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(s))
		w.Close()
		return b.String()
	}
	zs := func(s string) string {
		w, _ := zstd.NewWriter(nil)
		defer w.Close()
		return string(w.EncodeAll([]byte(s), nil))
	}
	lines := strings.Join(objects, "\n")
	var want []Record
	for i, text := range []string{lines, lines + "\n\n", "\ufeff" + strings.ReplaceAll(lines, "\n", "\r\n"), "[" + strings.Join(objects, ",\n ") + "]",
		strings.ReplaceAll(lines, ",", ",\n"), gz(lines), zs(lines), zs(gz(lines)), gz(objects[0]+"\n") + gz(objects[1]), zs(objects[0]+"\n") + zs(objects[1])} {
		_, recs, bad, err := fromText(t, text, nil)
		if err != nil || len(bad) > 0 {
			t.Fatalf("form %d: %v %v", i, err, bad)
		}
		for j := range recs {
			recs[j].Pos = rows.Pos{}
		}
		if want == nil {
			want = recs
		}
		if len(recs) != 2 || !reflect.DeepEqual(recs, want) {
			t.Fatalf("form %d: %+v", i, recs)
		}
	}
}

// Positions count lines, items and bytes of the text.
func TestPositions(t *testing.T) {
	_, recs, bad, err := fromText(t, "\ninput_tokens,output_tokens\n1,2\n\nx,2\n5,6\n", nil)
	if err != nil || len(recs) != 2 || len(bad) != 1 {
		t.Fatal(recs, bad, err)
	}
	if got := bad[0].Pos; got != (rows.Pos{File: "stdin", Line: 5, Item: 2, Byte: 33}) {
		t.Fatalf("%+v", got)
	}
	if bad[0].Error() != "stdin:5: bad_number: input_tokens is not a number" {
		t.Fatal(bad[0])
	}
}

func TestMap(t *testing.T) {
	m, err := ParseMap([]string{"arrival=meta.when@ms", "input_tokens=n in", "output_tokens=out", "session=u@h"})
	if err != nil {
		t.Fatal(err)
	}
	text := `{"meta":"{\"when\": 1500}","n in":5,"out":"6","u@h":"me","extra.deep":1,"more":{"x":2}}` + "\n"
	l, recs, _, err := fromText(t, text, m)
	if err != nil {
		t.Fatal(err)
	}
	r := recs[0]
	if r.Arrival.V != 1_500_000 || !r.Relative || r.InputTokens.V != 5 || r.OutputTokens.V != 6 || r.Session != "me" {
		t.Fatalf("%+v", r)
	}
	if got := strings.Join(l.Unmapped(), " "); got != "extra.deep more.x" {
		t.Fatalf("unmapped: %s", got)
	}
	if l.Schema().Name != "mapped" {
		t.Fatal(l.Schema())
	}
	for arg, want := range map[string]string{
		"arival=x": `did you mean "arrival"?`, "arrival": "want field=column", "model=x@ms": "takes no unit", "arrival=": "want field=column",
		"blocks=ids": "need their size", "zzzzzzzzz=x": "the fields are arrival, first_token",
	} {
		if _, err := ParseMap([]string{arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", arg, err)
		}
	}
	gone, _ := ParseMap([]string{"session=sid"})
	if _, _, _, err := fromText(t, "input_tokens,output_tokens,sesion_id\n1,2,3\n", gone); err == nil ||
		!strings.Contains(err.Error(), `no column "sid"`) || !strings.Contains(err.Error(), "sesion_id") {
		t.Fatal(err)
	}
	size, _ := ParseMap([]string{"blocks=ids@16"})
	_, recs, _, err = fromText(t, "input_tokens,output_tokens,ids\n20,2,\"[4, 5]\"\n", size)
	if err != nil || recs[0].BlockTokens != 16 || !slices.Equal(recs[0].Blocks, []int64{4, 5}) {
		t.Fatal(recs, err)
	}
}

// A schema's file is strict, and all that are embedded hold.
func TestSchemas(t *testing.T) {
	list, err := schemas()
	if err != nil || len(list) < 6 {
		t.Fatal(len(list), err)
	}
	for text, want := range map[string]string{
		"name: x\nrequire: [a]\nfields:\n  arival: t\n":        "arrival",
		"name: x\nrequire: [a]\nfeilds:\n  arrival: t\n":       "feilds",
		"name: x\nrequire: [a]\nfields:\n  model: [a@ms, b]\n": "takes no unit",
		"name: x\nrequire: [a]\n":                              "needs fields",
	} {
		if _, err := parseMappingFile([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Inputs are read one after the other, whatever their source and container.
func TestInputs(t *testing.T) {
	var read int64
	l, recs, _, err := readAll(t, Inputs{Paths: []string{"../testdata/logs/openai/log.jsonl", "../testdata/logs/openai/log.json"},
		Progress: func(n int64) { read = n }})
	if err != nil || len(recs) != 14 || len(l.Sources()) != 2 || read != l.Sources()[0].Bytes+l.Sources()[1].Bytes {
		t.Fatal(len(recs), read, l.Sources(), err)
	}
	l, recs, _, err = readAll(t, Inputs{Paths: []string{"../testdata/logs/openai/log.jsonl", "../testdata/logs/lengths/log.csv"}})
	if err != nil || l.Schema().Name != "openai + lengths" || len(l.Found()) != 2 || len(recs) < 8 {
		t.Fatal(l.Schema(), len(recs), err)
	}
	for range l.Records() {
		continue
	}
	for _, err := range l.Records() {
		if err == nil || !strings.Contains(err.Error(), "only once") {
			t.Fatal(err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l, err := Open(ctx, Inputs{Paths: []string{"../testdata/logs/lengths/log.csv"}})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for _, err := range l.Records() {
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

// No input makes a reader panic, loop or lose count of its rows.
func fuzzContainer(f *testing.F, open func(*source.Source, io.Reader) (rows.Reader, error), seeds ...string) {
	m, err := ParseMap([]string{"arrival=a", "messages=b.c", "input_tokens=n", "output=o", "blocks=h@16"})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := open(&source.Source{Name: "f"}, bytes.NewReader(data))
		if err != nil {
			return
		}
		b := newBuilder(m, nil)
		for n := int64(1); ; n++ {
			pos, err := r.Next()
			var row *rows.Error
			if err != nil && !errors.As(err, &row) {
				return
			}
			if pos.Item != n || pos.Byte > int64(len(data)) || n > int64(len(data)) {
				t.Fatalf("row %d is at %+v of %d bytes", n, pos, len(data))
			}
			if err != nil {
				continue
			}
			r.Names(func(string) {})
			if r.Fill(b.read.first()) == nil {
				b.build(pos)
			}
		}
	})
}

func FuzzCSV(f *testing.F) {
	fuzzContainer(f, textfile.OpenCSV, "a,n\n1,2\n", "a;b.c\n\"x\"\"y\";{}\n", "a\n\"\n\"\n\"", "n\n"+`"[1,2"`)
}

func FuzzJSONL(f *testing.F) {
	fuzzContainer(f, textfile.OpenJSONL, `{"a":1,"b":{"c":[{"role":"u","content":"x"}]},"n":3}`, `{"b":"{\"c\":[]}","h":[1,2]}`+"\n{", "\xff{}\n[]")
}

func FuzzJSON(f *testing.F) {
	fuzzContainer(f, textfile.OpenJSON, `[{"a":1},{"n":2}]`, "{\n}\n{}", `[{"a":"\"]"},`, `[[1],"x",2 ,{}`)
}

// Open and Records as a whole, over every compression.
func FuzzOpen(f *testing.F) {
	for _, s := range []string{"input_tokens,output_tokens\n1,2\n", `{"timestamp":1,"input_length":3,"output_length":4,"hash_ids":[1]}`, "\x1f\x8b", "\x28\xb5\x2f\xfd", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Open(t.Context(), Inputs{Stdin: bytes.NewReader(data)})
		if err != nil {
			return
		}
		for _, err := range l.Records() {
			if err != nil && strings.Contains(fmt.Sprint(err), "\n") {
				t.Fatalf("an error of several lines: %v", err)
			}
		}
		l.Unmapped()
	})
}

// An unknown log is told what was seen and which source is nearest.
func TestUnknown(t *testing.T) {
	for text, want := range map[string]string{
		"TIMESTAMP,ContextTokens,Generated\n1,2,3\n": "columns seen: ContextTokens, Generated, TIMESTAMP; nearest is azure_llm, which has TIMESTAMP, ContextTokens, GeneratedTokens; name columns with --map",
		`{"a":{"b":{"c":1}}}`:                        "columns seen: a, a.b; none of the",
		"Dear Anna\nno\n":                            "columns seen: none that are names",
	} {
		if _, err := Open(t.Context(), Inputs{Stdin: strings.NewReader(text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Cells that are JSON strings, quotes and all, are what the strings say; a table
// without a header is mapped by number; UTF-16 is text.
func TestCSVCells(t *testing.T) {
	m, err := ParseMap([]string{"arrival=startTime", "session=s", "input_tokens=n", "output_tokens=m"})
	if err != nil {
		t.Fatal(err)
	}
	text := "startTime,s,n,m\n\"\"\"2025-11-17T14:55:18.786Z\"\"\",\"\"\"a\\nb\"\"\",\"\"\"5\"\"\",7\n"
	_, recs, bad, err := fromText(t, text, m)
	if err != nil || len(bad) > 0 || recs[0].Arrival.V != 1763391318786000 || recs[0].Session != "a\nb" || recs[0].InputTokens.V != 5 {
		t.Fatal(recs, bad, err)
	}
	numbered, err := ParseMap([]string{"arrival=#1", "input_tokens=#2", "output_tokens=#3"})
	if err != nil {
		t.Fatal(err)
	}
	_, recs, bad, err = fromText(t, "2026-03-02T14:05:11Z;5;6\n2026-03-02T14:05:12Z;7;8\n", numbered)
	if err != nil || len(bad) > 0 || len(recs) != 2 || recs[0].InputTokens.V != 5 || recs[1].OutputTokens.V != 8 {
		t.Fatal(recs, bad, err)
	}
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		for _, mark := range []unicode.BOMPolicy{unicode.UseBOM, unicode.IgnoreBOM} {
			wide, err := unicode.UTF16(order, mark).NewEncoder().String("input_tokens;output_tokens\r\n5;6\r\n")
			if err != nil {
				t.Fatal(err)
			}
			_, recs, bad, err = fromText(t, wide, nil)
			if err != nil || len(bad) > 0 || len(recs) != 1 || recs[0].OutputTokens.V != 6 {
				t.Fatal(order, mark, recs, bad, err)
			}
		}
	}
}
