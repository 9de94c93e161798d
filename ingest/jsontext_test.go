package ingest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/valyala/fastjson"
)

// What is written again is JSON and says the same, control characters, DEL and
// invisible ones included; encoding/json is the judge.
func TestValueRoundTrip(t *testing.T) {
	for _, text := range []string{
		`{"a\u0007\"b":["\u0007 \"said\"","\u000b\u007f\\","\u200b\"","` + "\U000e0067" + `\"",1.50,-0,1e3,true,null,{}]}`,
		`"\b\f\n\r\t\u0000\u001f\"\\/"`,
	} {
		v, err := fastjson.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		again := rawJSON(v)
		if v.Type() == fastjson.TypeString {
			again = string(appendValue(nil, v))
		}
		var want, got any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(again), &got); err != nil {
			t.Errorf("%s: %v", again, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %s of %s", again, text)
		}
	}
}

func FuzzValueRoundTrip(f *testing.F) {
	f.Add(`{"a":["\u0007\"",{"b":1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var want, got any
		text = strings.ToValidUTF8(text, "?")
		v, err := fastjson.Parse(text)
		if err != nil || json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		if err := json.Unmarshal(appendValue(nil, v), &got); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, `\u`) && !reflect.DeepEqual(got, want) { // lone surrogates are told differently
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// Rows that are joined, and texts of tools, keep their control characters.
func TestJoinedText(t *testing.T) {
	j := newJoiner(&joinFile{By: []string{"id"}, Events: []joinEventFile{{Name: "asked", When: "q"}, {Name: "told", When: "a"}}, Last: []string{"told"}})
	for _, row := range []string{`{"id":"1","q":"\u0007 \"x\" \u007f"}`, `{"id":"1","a":"\u000b\\"}`} {
		v, err := fastjson.Parse(row)
		if err != nil {
			t.Fatal(err)
		}
		j.add(Pos{}, v)
	}
	_, v, ok := j.next()
	if !ok || string(v.GetStringBytes("asked", "q")) != "\x07 \"x\" \x7f" || string(v.GetStringBytes("told", "a")) != "\v\\" {
		t.Fatalf("%v %v", ok, v)
	}
}
