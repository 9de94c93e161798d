package ingest

import (
	"fmt"
	"strings"
	"testing"
)

// usedIn counts the requests that use tools and a schema, and those of which
// either is not known.
func usedIn(recs []Record) (tools, schemas, unknown int) {
	for _, r := range recs {
		if r.Tools.V {
			tools++
		}
		if r.JSONSchema.V {
			schemas++
		}
		if !r.Tools.OK || !r.JSONSchema.OK {
			unknown++
		}
	}
	return tools, schemas, unknown
}

// TestAbsentFeature: a row that lacks a feature's column, which other rows have,
// did not use it: in JSON and in tables, by arguments and by a mapping file,
// flat and nested, also where the first row with it comes late.
func TestAbsentFeature(t *testing.T) {
	args := func(args ...string) *Mapping {
		m, err := ParseMap(append(args, "arrival=at", "input_tokens=in", "output_tokens=out"))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	file, err := parseMappingFile([]byte("fields: {arrival: at, input_tokens: in, output_tokens: out, tools: {path: req.tools, as: present}, json_schema: req.format}"))
	if err != nil {
		t.Fatal(err)
	}
	pad := strings.Repeat("x", 60<<10) // so that few rows are sampled
	for name, x := range map[string]struct {
		m    *Mapping
		head string
		row  func(tools, schema bool) string
	}{
		"flat JSON": {args("tools=tools", "json_schema=format"), "", func(tools, schema bool) string {
			row := `{"at":"2026-03-02T10:00:00Z","in":5,"out":5,"pad":"` + pad + `"`
			if tools {
				row += `,"tools":[{"type":"function"}]`
			}
			if schema {
				row += `,"format":{"type":"json_schema"}`
			}
			return row + "}"
		}},
		"nested JSON": {&Mapping{file: file}, "", func(tools, schema bool) string {
			row := `{"at":"2026-03-02T10:00:00Z","in":5,"out":5,"pad":"` + pad + `","req":{"tools":`
			if tools {
				row += `[{}]`
			} else {
				row += `null`
			}
			if schema {
				row += `,"format":{"type":"json_schema"}`
			}
			return row + "}}"
		}},
		"dotted JSON": {args("tools=req.tools", "json_schema=req.format"), "", func(tools, schema bool) string {
			row := `{"at":"2026-03-02T10:00:00Z","in":5,"out":5`
			if tools {
				row += `,"req.tools":true`
			}
			if schema {
				row += `,"req.format":"json_schema"`
			}
			return row + "}"
		}},
		"CSV": {args("tools=tools", "json_schema=format"), "at,in,out,tools,format\n", func(tools, schema bool) string {
			row := "2026-03-02T10:00:00Z,5,5,"
			if tools {
				row += "t"
			}
			if row += ","; schema {
				return row + "json_schema"
			}
			return row + "null"
		}},
	} {
		log := x.head
		for i := range 40 {
			log += x.row(i%4 == 3 && i > 12, i%2 == 1 && i > 14) + "\n"
		}
		l, recs, bad, err := readAll(t, Inputs{Stdin: strings.NewReader(log), Map: x.m})
		if err != nil || len(bad) > 0 || len(recs) != 40 {
			t.Errorf("%s: %d records, %v, %v", name, len(recs), bad, err)
			continue
		}
		if tools, schemas, unknown := usedIn(recs); tools != 7 || schemas != 13 || unknown != 0 {
			t.Errorf("%s: %d use tools and %d a schema, %d are not known; want 7, 13 and none", name, tools, schemas, unknown)
		}
		if notes := strings.Join(l.Notes(), "; "); strings.Contains(notes, "no row has") {
			t.Errorf("%s: %s", name, notes)
		}
	}
}

// TestBodyNotKept: of a request whose body the log did not keep, nobody knows
// what it used.
func TestBodyNotKept(t *testing.T) {
	m, err := ParseMap([]string{"arrival=at", "input_tokens=in", "tools=req.tools"})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for i, req := range []string{`{"tools":[{}]}`, `{"model":"m"}`, `null`, `"cut off {"`} {
		fmt.Fprintf(&log, `{"at":"2026-03-02T10:00:0%dZ","in":5,"req":%s}`+"\n", i, req)
	}
	log.WriteString(`{"at":"2026-03-02T10:00:05Z","in":5}` + "\n")
	_, recs, _, err := readAll(t, Inputs{Stdin: strings.NewReader(log.String()), Map: m})
	if err != nil || len(recs) != 5 {
		t.Fatal(recs, err)
	}
	for i, want := range []string{"true", "false", "unknown", "unknown", "unknown"} {
		got := "unknown"
		if recs[i].Tools.OK {
			got = fmt.Sprint(recs[i].Tools.V)
		}
		if got != want {
			t.Errorf("row %d: tools are %s, want %s", i+1, got, want)
		}
	}
}

// TestMissedColumn: a column that no row has is told: at once where it can be
// known, else in the end, with the name that is most like it.
func TestMissedColumn(t *testing.T) {
	const row = `{"at":"2026-03-02T10:00:00Z","in":5,"out":6,"tool_list":[]}` + "\n"
	open := func(log string, args ...string) (*Log, error) {
		m, err := ParseMap(args)
		if err != nil {
			t.Fatal(err)
		}
		l, _, _, err := readAll(t, Inputs{Stdin: strings.NewReader(log), Map: m})
		return l, err
	}
	if _, err := open(row, "arrival=att", "input_tokens=in"); err == nil || !strings.Contains(err.Error(), `no column "att"`) {
		t.Errorf("an arrival that no row has: %v", err)
	}
	if _, err := open("at,in\n2026-03-02T10:00:00Z,5\n", "arrival=at", "input_tokens=in", "tools=tools"); err == nil || !strings.Contains(err.Error(), `no column "tools"`) {
		t.Errorf("a column that no header has: %v", err)
	}
	l, err := open(row, "arrival=at", "input_tokens=in", "tools=tools_list", "session=conversation")
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(l.Notes(), "\n")
	for _, want := range []string{`no row has the column "tools_list" that --map names for tools, which so counts as not used; did you mean "tool_list"?`, `no row has the column "conversation" that --map names for session`} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in %q", want, notes)
		}
	}
}
