package ingest

import (
	"fmt"
	"strings"
	"testing"
)

// TestSchemaText: the schema is found in what asks for it, in the forms of the
// interfaces, as JSON and as text that holds JSON; what is no schema has none.
func TestSchemaText(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"string"}}}`
	for name, x := range map[string]struct{ body, want string }{
		"OpenAI chat":      {`"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":` + schema + `}}`, schema},
		"OpenAI responses": {`"text":{"format":{"type":"json_schema","name":"n","schema":` + schema + `}}`, schema},
		"Anthropic":        {`"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`, schema},
		"vLLM, guided":     {`"guided_json":` + schema, schema},
		"vLLM, as text":    {`"guided_json":` + fmt.Sprintf("%q", schema), schema},
		"vLLM, structured": {`"structured_outputs":{"json":` + schema + `}`, schema},
		"any JSON":         {`"response_format":{"type":"json_object"}`, ""},
		"left out":         {`"response_format":{"type":"json_schema"}`, ""},
		"none":             {`"n":1`, ""},
	} {
		row := `{"model":"m","created":1772460310,"messages":[{"role":"user","content":"hi"}],` + x.body + `}` + "\n"
		m, err := ParseMap([]string{"arrival=created", "messages=messages"})
		if err != nil {
			t.Fatal(err)
		}
		m.file, err = parseMappingFile([]byte("request: .\nfields: {arrival: created}"))
		if err != nil {
			t.Fatal(err)
		}
		_, recs, bad, err := readAll(t, Inputs{Stdin: strings.NewReader(row), Map: m})
		if err != nil || len(bad) > 0 || len(recs) != 1 {
			t.Fatal(name, err, bad)
		}
		if r := recs[0]; r.SchemaText != x.want || r.JSONSchema.V != (x.want != "" || name == "left out") {
			t.Errorf("%s: %v %q, want %q", name, r.JSONSchema, r.SchemaText, x.want)
		}
	}
}

// TestToolsInCells: definitions of tools that a table has as text are those that
// JSON has.
func TestToolsInCells(t *testing.T) {
	m, err := ParseMap([]string{"arrival=at", "messages=messages", "tools=tools"})
	if err != nil {
		t.Fatal(err)
	}
	_, recs, _, err := readAll(t, Inputs{Map: m, Stdin: strings.NewReader("at,messages,tools\n2026-03-02T10:00:00Z,hello,\"[{\"\"name\"\":\"\"f\"\"}]\"\n2026-03-02T10:00:01Z,hello,true\n")})
	if err != nil || len(recs) != 2 {
		t.Fatal(recs, err)
	}
	if recs[0].ToolText != `[{"name":"f"}]` || !recs[1].Tools.V || recs[1].ToolText != "" {
		t.Errorf("%q, %q", recs[0].ToolText, recs[1].ToolText)
	}
}
