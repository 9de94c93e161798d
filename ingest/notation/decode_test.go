package notation

import "testing"

// Lists and objects are found in text: JSON, JSON in a JSON string, events of a
// stream, lines of JSON, and what Python prints.
func TestValuesInText(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":[1]}`:                       `{"a":[1]}`,
		` "{\"a\":[1]}" `:                 `{"a":[1]}`,
		`"\"[\\\"x\\\"]\""`:               `["x"]`,
		"data: {\"a\":1}\n\ndata: [DONE]": `[{"a":1}]`,
		"event: x\ndata: {\"a\":1}\nevent: y\ndata: {\"a\":2}\n": `[{"a":1},{"a":2}]`,
		"{\"a\":1}\n{\"a\":2}":        `[{"a":1},{"a":2}]`,
		`{'a': [True, None, "it's"]}`: `{"a":[true,null,"it's"]}`,
		`plain`:                       ``, `"plain"`: ``, `[1`: ``, `data: nothing`: ``, ``: ``,
	} {
		var n Decoder
		got := ""
		if v := n.Decode(in); v != nil {
			got = v.String()
		}
		if got != want {
			t.Errorf("%q gives %s, want %s", in, got, want)
		}
	}
}
