package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fastjson"

	"reprise/ingest/rows"
)

// mapped reads a text with a mapping file.
func mapped(t *testing.T, mapping, text string, zone *time.Location) (*Log, []Record, []*rows.Error, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(path, []byte(mapping), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := ParseMap([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	return readAll(t, Inputs{Stdin: strings.NewReader(text), Map: m, Zone: zone})
}

// A mapping file of a user: lists, tests, values, constants, rules, zones.
func TestMappingFile(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("SKIPPED, not tested: no time zones here")
	}
	l, recs, bad, err := mapped(t, `
name: shop
require: [calls]
explode: [calls]
fields:
  end: at
  duration: ms@ms
  model: ^.model
  session: [chat, ^.page.chat]
  api: {const: chat}
  stream: {path: mode, values: {sse: "true", "*": "false"}}
  input_tokens: {path: tokens.in, when: {path: tokens.ok, is: [yes]}}
  output_tokens: {path: ids, as: length}
  tools: {path: functions, as: present}
keep:
  - {why: not_generation, when: {path: kind, is: [chat]}}
exclude:
  - {why: load_test, when: {any: [{path: agent, like: '^k6'}, {path: ^.test, present: true}]}}
`, `{"model":"m1","page":{"chat":"c1"},"calls":[`+
		`{"at":"2026-03-02 15:05:12","ms":2000,"kind":"CHAT","mode":"sse","tokens":{"in":7,"ok":"yes"},"ids":[1,2,3],"functions":[{}]},`+
		`{"at":"2026-03-02 15:05:13","ms":1000,"kind":"chat","chat":"c2","mode":"x","tokens":{"in":7,"ok":"no"},"ids":"[1,2]","functions":[]},`+
		`{"at":"2026-03-02 15:05:14","kind":"embed"},{"at":"2026-03-02 15:05:14","kind":"chat","agent":"k6/1"}]}`+"\n"+
		`{"model":"m2","calls":[]}`+"\n", zone)
	if err != nil || len(bad) > 0 || len(recs) != 5 {
		t.Fatal(recs, bad, err)
	}
	a, b := recs[0], recs[1]
	if a.Arrival.V != 1772460310_000000 || a.Model != "m1" || a.Session != "c1" || !a.Stream.V || a.InputTokens.V != 7 ||
		a.OutputTokens.V != 3 || !a.Tools.V || a.Pos.Sub != 1 {
		t.Errorf("%+v", a)
	}
	if b.Session != "c2" || b.Stream.V || !b.Stream.OK || b.InputTokens.OK || b.OutputTokens.V != 2 || !b.Tools.OK || b.Tools.V || b.Pos.Sub != 2 {
		t.Errorf("%+v", b)
	}
	if recs[2].Rule != NotGeneration || recs[3].Rule != "load_test" || recs[4].Rule != NoRequest {
		t.Errorf("rules %q %q %q", recs[2].Rule, recs[3].Rule, recs[4].Rule)
	}
	if notes := strings.Join(l.Notes(), ";"); !strings.Contains(notes, "2 times have no zone and were read as Europe/Berlin, as --timezone says") {
		t.Error(notes)
	}
	if got := strings.Join(l.Unmapped(), " "); got != "" {
		t.Errorf("unmapped: %s", got)
	}
}

// What is wrong in a mapping file is said with the key or the line.
func TestBadMappingFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "no YAML document",
		"fields: {arrival: t}\nname: [1]": "line 2",
		"fields: {arrivall: t}":           `did you mean "arrival"`,
		"feilds: {arrival: t}":            `did you mean "fields"`,
		"fields: {arrival: t@ms, model: {path: m, unit: ms}}":                   "model takes no unit",
		"fields: {model: {path: m, az: present}}":                               "az",
		"fields: {model: {path: m, as: absent}}":                                "as can be",
		"fields: {arrival: {path: t, unit: h}}":                                 "no unit",
		"fields: {model: {path: m, beside: true}}":                              "no part of another count",
		"fields: {model: ^.^.m}":                                                "levels out",
		"fields: {model: m}\nextends: nothing":                                  `no mapping is called "nothing"`,
		"fields: {model: m}\nkeep: [{why: 'No Way', when: {path: a, is: [b]}}]": "why must be",
		"fields: {model: m}\nkeep: [{why: x}]":                                  "when is missing",
		"fields: {model: m}\nkeep: [{why: x, when: {path: a}}]":                 "asks nothing",
		"fields: {model: m}\nexclude: [{why: x, when: {path: a, like: '('}}]":   "no regular expression",
		"fields: {model: m}\ntokens: {rest: all}":                               "rest can be reasoning",
		"fields: {model: m}\nexclude: [{why: x, when: {is: [b]}}]":              "needs the path",
		"name: x\n": "needs fields",
	} {
		if _, err := parseMappingFile([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A value of a test decides between sources with the same columns, and the
// reason why says it.
func TestToldByValues(t *testing.T) {
	row := `{"time":"2026-03-02T14:05:12Z","category":"CATEGORY","operationName":"ChatCompletions_Create","correlationId":"c","durationMs":1,"properties":{"requestTime":639080571114820000,"method":"POST","responseCode":200,"requestBody":"{}"}}`
	for category, want := range map[string]string{"RequestResponse": "azure_openai", "GatewayLogs": "apim_gateway"} {
		l, err := Open(t.Context(), Inputs{Stdin: strings.NewReader(strings.ReplaceAll(row, "CATEGORY", category))})
		if err != nil || l.Schema().Name != want {
			t.Errorf("%s: %v %v", category, l, err)
		}
	}
	if _, err := Open(t.Context(), Inputs{Stdin: strings.NewReader(strings.ReplaceAll(row, "CATEGORY", "Audit"))}); err == nil || !strings.Contains(err.Error(), "nearest is ") {
		t.Error(err)
	}
}

// Attributes whose keys count positions are put together by number, whatever
// their order, and keys that clash lose nothing but the clash.
func TestGatheredAttributes(t *testing.T) {
	for in, want := range map[string]string{
		`{"a.1.x":"two","a.0.x":"one","a.10.x":"three"}`:             `[{"x":"one"},{"x":"two"},{"x":"three"}]`,
		`{"a.0.m.role":"u","a.0.m.parts.1.t":2,"a.0.m.parts.0.t":1}`: `[{"m":{"role":"u","parts":[{"t":1},{"t":2}]}}]`,
		`[{"key":"a.0","value":{"arrayValue":{"values":[{"intValue":"7"},{"kvlistValue":{"values":[{"key":"k","value":{"boolValue":true}}]}}]}}}]`: `[["7",{"k":true}]]`,
		`{"a.0":"leaf","a.0.x":"below"}`: `[{"x":"below"}]`,
		`{"b.0.x":1}`:                    ``,
	} {
		m := &Mapping{Fields: map[Field][]Column{FieldMessages: {{Path: "at.a"}}}, attributes: []string{"at"}, arrays: []string{"a"}}
		r := newReading(m)
		p := r.first()
		p.Take(fastjson.MustParse(`{"at":` + in + `}`))
		got := ""
		if c := r.cell(r.cols[FieldMessages][0].at); c.Value != nil {
			got = c.Value.String()
		}
		if got != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
	}
}

// Of two spans of one call the inner one stays, whichever comes first, and
// through spans between them that are no calls.
func TestNestedCalls(t *testing.T) {
	rec := func(span, parent string, why Rule) Record { return Record{Rule: why, Span: span, ParentSpan: parent} }
	for name, list := range map[string][]Record{
		"inner first":    {rec("c", "b", ""), rec("b", "a", OtherSpan), rec("a", "", "")},
		"outer first":    {rec("a", "", ""), rec("b", "a", OtherSpan), rec("c", "b", "")},
		"middle last":    {rec("a", "", ""), rec("c", "b", ""), rec("b", "a", OtherSpan)},
		"others between": {rec("a", "", ""), rec("z", "", ""), rec("c", "a", "")},
	} {
		n, kept, dropped := newNest(), "", ""
		take := func(r Record) bool {
			switch r.Rule {
			case "":
				kept += r.Span
			case NestedCall:
				dropped += r.Span
			}
			return true
		}
		for _, r := range list {
			n.push(r, take)
		}
		n.flush(take)
		if strings.ReplaceAll(kept, "z", "") != "c" || dropped != "a" {
			t.Errorf("%s: kept %q, dropped %q", name, kept, dropped)
		}
	}
}

// What waits is bounded, and comes out in order.
func TestNestIsBounded(t *testing.T) {
	n, next := newNest(), int64(0)
	take := func(r Record) bool {
		if r.Pos.Item != next {
			t.Fatalf("row %d came as number %d", r.Pos.Item, next)
		}
		next++
		return true
	}
	text := strings.Repeat("x", 1<<20)
	for i := range int64(200_000) {
		r := Record{Pos: rows.Pos{Item: i}, Span: string(rune('a'+i%26)) + time.Duration(i).String()}
		if i%1000 == 0 {
			r.Prompt = text
		}
		n.push(r, take)
		if len(n.held) > maxNest || n.bytes > maxNestBytes || len(n.at) > maxNest || len(n.parents.now)+len(n.parents.before) > 2*maxRecent {
			t.Fatalf("after %d rows %d wait with %d bytes", i, len(n.held), n.bytes)
		}
	}
	n.flush(take)
	if next != 200_000 || len(n.at) != 0 || n.bytes != 0 {
		t.Fatal(next, len(n.at), n.bytes)
	}
}

func FuzzMappingFile(f *testing.F) {
	files, _ := filepath.Glob("schemas/*.yaml")
	parts, _ := filepath.Glob("schemas/parts/*.yaml")
	for _, name := range append(files, parts...) {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("fields: {model: {path: a, when: {any: [{path: b, is: c}]}}}\nexplode: a"))
	row := fastjson.MustParse(`{"a":[{"b":1}],"data":"{\"x\":[]}","attributes":[{"key":"k","value":{"stringValue":"v"}}]}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseMappingFile(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of several lines: %v", err)
			}
			return
		}
		b := newBuilder(&s.mapping, nil)
		p := b.read.first()
		p.Take(row)
		b.each(rows.Pos{}, func(*Record, *rows.Error) bool { return true })
	})
}

func FuzzAttributes(f *testing.F) {
	f.Add(`[{"key":"a.0.b","value":{"stringValue":"x"}},{"key":"a.1","value":{"intValue":"3"}}]`)
	f.Add(`{"a.0.b":1,"a.0":2,"c":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"x"}]}}]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := fastjson.Parse(text)
		if err != nil {
			return
		}
		m := &Mapping{Fields: map[Field][]Column{FieldMessages: {{Path: "a"}}, FieldOutput: {{Path: "c"}}}, attributes: []string{"."}, arrays: []string{"a"}}
		b := newBuilder(m, nil)
		p := b.read.first()
		p.Take(v)
		b.build(rows.Pos{})
	})
}
