package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"reprise/ingest/rows"
	"reprise/ingest/textfile"
)

// oneByOne hides that rows can be read as text, and so gives the plain way of
// reading them.
type oneByOne struct{ rows.Reader }

func (o oneByOne) ValidText() bool { return o.Reader.(textfile.Checked).ValidText() }

// told is all that reading a log tells.
type told struct {
	records  []Record
	errors   []string
	notes    []string
	coverage []Coverage
}

func (o *told) take(r Record, err error) bool {
	o.records, o.errors = append(o.records, r), append(o.errors, fmt.Sprint(err))
	return true
}

// spreadOver reads a log on so many processors; on none, row by row.
func spreadOver(t *testing.T, log []byte, procs int) told {
	t.Helper()
	var out told
	l, err := Open(t.Context(), Inputs{Stdin: bytes.NewReader(log)})
	if err != nil {
		t.Fatal(err)
	}
	if procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		for r, err := range l.Records() {
			out.take(r, err)
		}
	} else {
		k := l.looked["stdin"]
		rows, err := k.container.start(l.held[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.rows(oneByOne{rows}, k.taken, out.take); err != nil {
			t.Fatal(err)
		}
	}
	out.notes, out.coverage = l.Notes(), l.Coverage()
	return out
}

// messyCSV has what rows can have: quotes, line breaks and stray quotes in
// fields, wrong numbers of fields, bytes that are not UTF-8, long cells.
func messyCSV(rows int) []byte {
	var b bytes.Buffer
	b.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens,note,model\r\n")
	for i := range rows {
		note := []string{"", "plain", `"a, b"`, "\"two\nlines \"\"so\"\"\"", `in"side`, "\xff\xfe", strings.Repeat("long ", 400), `"a"b"`,
			"too,many", `"x` + "\xc3" + `"`}[min(i%23, 9)]
		fmt.Fprintf(&b, "2023-11-16 %02d:%02d:%02d.%07d,%d,%d,%s,m%d\r\n", i/3600%24, i/60%60, i%60, i, i%40-1, i%900+1, note, i%3)
		if i%97 == 0 {
			b.WriteString("\n")
		}
	}
	return b.Bytes()
}

// messyLines has good rows, bad ones, huge ones and blank ones.
func messyLines(rows int) []byte {
	var b bytes.Buffer
	for i := range rows {
		switch {
		case i%31 == 7:
			b.WriteString("{\"cut\": \n")
		case i%37 == 5:
			b.WriteString("[1]\n\n")
		case i%41 == 3:
			b.WriteString("{\"model\":\"a\",\"model\":\"\xff\",\"request\":{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}}\n")
		case i == rows/2:
			fmt.Fprintf(&b, `{"request":{"messages":[{"role":"user","content":"%s"}]},"timestamp":%d}`+"\n", strings.Repeat("words ", 2<<20), 1_700_000_000+i)
		default:
			fmt.Fprintf(&b, `{"request":{"model":"m%d","messages":[{"role":"user","content":"%s"}]},"timestamp":%d,"response":{"usage":{"prompt_tokens":%d,"completion_tokens":3}}}`+"\n",
				i%3, strings.Repeat("word ", i%700), 1_700_000_000+i, i%50)
		}
	}
	return b.Bytes()
}

// spans has several calls a row, some around others.
func spans(rows int) []byte {
	var b bytes.Buffer
	for i := range rows {
		span := func(id, parent string) string {
			return fmt.Sprintf(`{"traceId":"t%d","spanId":"%s","parentSpanId":"%s","name":"chat","startTimeUnixNano":"17000000%08d000","endTimeUnixNano":"17000000%08d500",`+
				`"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}},`+
				`{"key":"gen_ai.usage.input_tokens","value":{"intValue":"%d"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"5"}}]}`, i, id, parent, i, i, i+1)
		}
		id := fmt.Sprintf("%016x", i)
		fmt.Fprintf(&b, `{"resourceSpans":[{"scopeSpans":[{"spans":[%s,%s]}]}]}`+"\n", span(id, fmt.Sprintf("%016x", i+1_000_000)), span(fmt.Sprintf("%016x", i+1_000_000), ""))
	}
	return b.Bytes()
}

// Records, errors and counts are those of reading row by row, whatever the
// number of processors.
func TestSpread(t *testing.T) {
	for name, log := range map[string][]byte{"csv": messyCSV(12_000), "jsonl": messyLines(4_000), "spans": spans(3_000), "short": messyCSV(40)} {
		want := spreadOver(t, log, 0)
		if len(want.records) < 40 {
			t.Errorf("%s: %d records", name, len(want.records))
		}
		for _, procs := range []int{1, 2, 5} {
			got := spreadOver(t, log, procs)
			for i := range want.records {
				if i >= len(got.records) || !reflect.DeepEqual(got.records[i], want.records[i]) || got.errors[i] != want.errors[i] {
					t.Fatalf("%s on %d processors: record %d is not that of %s", name, procs, i, want.records[i].Pos)
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s on %d processors: %d records, want %d; %q, want %q", name, procs, len(got.records), len(want.records), got.notes, want.notes)
			}
		}
	}
}

// Whoever has enough leaves no goroutine behind.
func TestSpreadStopped(t *testing.T) {
	log := messyCSV(20_000)
	for _, enough := range []int{1, 5000, 15_000} {
		synctest.Test(t, func(t *testing.T) {
			l, err := Open(context.Background(), Inputs{Stdin: bytes.NewReader(log)})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for range l.Records() {
				if n++; n == enough {
					break
				}
			}
			if n != enough {
				t.Error(n)
			}
		})
	}
}

// A file that breaks off gives all rows before that, and then the position.
func TestSpreadCut(t *testing.T) {
	log := messyCSV(20_000)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(log)
	w.Close()
	r, err := gzip.NewReader(bytes.NewReader(packed.Bytes()[:packed.Len()/2]))
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := io.ReadAll(r)
	l, err := Open(t.Context(), Inputs{Stdin: bytes.NewReader(packed.Bytes()[:packed.Len()/2])})
	if err != nil {
		t.Fatal(err)
	}
	var last rows.Pos
	var cut *rows.Error
	for r, err := range l.Records() {
		if errors.As(err, &cut) && cut.Reason == rows.CutShort {
			continue
		}
		last = r.Pos
	}
	if cut == nil || cut.Reason != rows.CutShort || cut.Pos.Item != last.Item+1 || last.Byte < int64(len(whole))*9/10 {
		t.Errorf("cut at %+v of %d bytes, last row %+v", cut, len(whole), last)
	}
}
