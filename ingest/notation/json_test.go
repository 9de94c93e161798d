package notation

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
		again := Text(v)
		if v.Type() == fastjson.TypeString {
			again = string(AppendValue(nil, v))
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
		if err := json.Unmarshal(AppendValue(nil, v), &got); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, `\u`) && !reflect.DeepEqual(got, want) { // lone surrogates are told differently
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
