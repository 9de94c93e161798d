package strictjson

import (
	"bytes"
	"strings"
	"testing"
)

type doc struct {
	Name string         `json:"name"`
	N    int64          `json:"n"`
	M    map[string]int `json:"m"`
	Sub  *doc           `json:"sub,omitempty"`
}

func TestCanonical(t *testing.T) {
	in := doc{Name: "a <b> & ü", N: 9007199254740993, M: map[string]int{"b": 2, "a": 1}, Sub: &doc{M: map[string]int{}}}
	b, err := Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"name\": \"a <b> & ü\",\n  \"n\": 9007199254740993,\n  \"m\": {\n    \"a\": 1,\n    \"b\": 2\n  },\n" +
		"  \"sub\": {\n    \"name\": \"\",\n    \"n\": 0,\n    \"m\": {}\n  }\n}\n"
	if string(b) != want {
		t.Fatalf("got %s", b)
	}
	var out doc
	if err := DecodeCanonical(b, &out); err != nil || out.N != in.N {
		t.Fatalf("%v %+v", err, out)
	}
}

func TestRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`{"name":"a","name":"b"}`:               `duplicate key "name"`,
		`{"name":"a","NAME":"b"}`:               `duplicate key "NAME"`,
		`{"m":{"a":1,"a":2}}`:                   `duplicate key "a"`,
		`{"m":{"x":{"a":1,"a":2}}}`:             `duplicate key "a"`,
		`{"other":1}`:                           "line 1: unknown key",
		`{"n":1} {}`:                            "after the end",
		`{"n":1`:                                "ends early",
		`{"n":"1"}`:                             `key "n" holds a JSON value of the wrong type`,
		`{"n":1.5}`:                             `key "n" holds a JSON value of the wrong type`,
		"{\"name\":\"\xff\"}":                   "not valid UTF-8",
		``:                                      "ends early",
		strings.Repeat(`{"sub":`, 100) + "null": "nested too deeply",
	} {
		var d doc
		if err := Decode([]byte(in), &d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: want %q, got %v", in, want, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name":"a","n":1,"m":{"b":2},"sub":{"n":2}}`))
	f.Add([]byte("{\n  \"name\": \"\",\n  \"n\": 0,\n  \"m\": null\n}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d doc
		if err := DecodeCanonical(data, &d); err != nil {
			return
		}
		again, err := Encode(d)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("accepted %q, writes %q (%v)", data, again, err)
		}
	})
}

// Errors name the line on which what is wrong stands, and none where it may be
// another.
func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"{\n\"name\":\"a\",\n\"name\":\"b\"}":      `line 3: duplicate key "name"`,
		"{\n\"name\":\"a\",\n\n\"nome\":\"b\"}":    `line 4: unknown key "nome"`,
		"{\"m\":{\"nome\":1},\n\"nome\":\"b\"}":    `unknown key "nome"`,
		"{\"m\":{},\n\"n\":\n\"x\"}":               `line 3: key "n" holds a JSON value of the wrong type`,
		"{\"name\":\"a\"}\n\n  {\"name\":\"b\"}\n": `line 3: data after the end`,
		"{\"name\":\"a\",\n\"n\":1,\n}":            `line 2: not valid JSON`,
		"{\"name\":\"a\\n\",\n\"\\u006eome\":1}":   `line 2: unknown key "nome"`,
	} {
		var d doc
		if err := Decode([]byte(in), &d); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: want %q, got %v", in, want, err)
		}
	}
}
