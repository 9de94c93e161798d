package textfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// splitText reads the rows of a JSON text and gives them back as text.
func splitText(t testing.TB, text string) (list []string, bad []*rows.Error) {
	t.Helper()
	r, err := OpenJSON(&source.Source{Name: "f"}, io.MultiReader(strings.NewReader(text))) // no Seek, odd reads
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, err := r.Next()
		var row *rows.Error
		switch {
		case errors.Is(err, io.EOF):
			return list, bad
		case errors.As(err, &row):
			bad = append(bad, row)
		case err != nil:
			t.Fatal(err)
		default:
			list = append(list, string(r.(*values).value.MarshalTo(nil)))
		}
	}
}

// The forms in which the same rows come.
func TestJSONForms(t *testing.T) {
	const a, b = `{"a":1,"t":"x\"]},{"}`, `{"a":{"b":[1,{"c":2}]}}`
	for text, want := range map[string]string{
		a + b:                            a + "|" + b,
		a + "\n\n" + b + "\n":            a + "|" + b,
		"\x1e" + a + "\n\x1e" + b + "\n": a + "|" + b,
		"[" + a + "," + b + "]":          a + "|" + b,
		" [\n" + a + " ,\r\n" + b + "\n]\n[" + b + "]":                         a + "|" + b + "|" + b,
		`{"object":"list","data":[` + a + "," + b + `],"has_more":true}`:       a[:len(a)-1] + `,"^":{"object":"list"}}|` + b[:len(b)-1] + `,"^":{"object":"list"}}`,
		`{"data":[` + a + `]}` + "\n" + `{"data":[` + b + `]}`:                 a + "|" + b,
		`{"items": [` + a + `], "next": null}`:                                 a,
		`{"results":[` + b + `]}`:                                              b,
		`{"count":2,"exported":[` + a + "," + b + `]}`:                         a[:len(a)-1] + `,"^":{"count":2}}|` + b[:len(b)-1] + `,"^":{"count":2}}`,
		`{"data":[],"has_more":false}`:                                         "",
		`{"id":"x","messages":[{"role":"user"}],"data":[{"a":1}]}`:             `{"id":"x","messages":[{"role":"user"}],"data":[{"a":1}]}`,
		`{"resourceSpans":[` + a + "," + b + `]}`:                              `{"resourceSpans":[` + a + "," + b + `]}`,
		`{"data":[` + a + `]}{"error":"x"}{"data":[` + b + `]}`:                a + "|" + b,
		strings.ReplaceAll(`{"id": 1, "list": [1, 2], "o": {}}`, " ", "\n \t"): `{"id":1,"list":[1,2],"o":{}}`,
	} {
		list, bad := splitText(t, text)
		if got := strings.Join(list, "|"); got != want || len(bad) > 0 {
			t.Errorf("%s\n got %s %v\nwant %s", text, got, bad, want)
		}
	}
}

// A document of requests too large for one row comes entry by entry, in the
// shape that the whole has.
func TestNestedPage(t *testing.T) {
	span := `{"scopeSpans":[{"spans":[{"name":"` + strings.Repeat("n", 1<<20) + `"}]}]}`
	text := `{"version":"1","resourceSpans":[` + strings.Repeat(span+",\n", 19) + span + `],"end":1}`
	list, bad := splitText(t, text)
	if len(list) != 20 || len(bad) > 0 || list[7] != `{"version":"1","resourceSpans":[`+span+`]}` {
		t.Fatal(len(list), bad)
	}
}

// Where a text is cut, the rows before it stand and the cut is said; nothing
// hangs, and nothing is counted twice.
func TestJSONCut(t *testing.T) {
	for _, text := range []string{`[{"a":1},{"a":"x\"y"},{"b":[1,{}]}]`, `{"x":1,"data":[{"a":1},{"a":"x\"y"}],"y":{"z":[]}}`, "{\"a\":1}\n{\"a\":\n\"}\"}\n"} {
		whole, bad := splitText(t, text)
		if len(bad) > 0 {
			t.Fatal(text, bad)
		}
		for i := range len(text) {
			list, bad := splitText(t, text[:i])
			if len(list) > len(whole) || len(bad) > 1 {
				t.Fatalf("%q: %q %v", text[:i], list, bad)
			}
			for j := range list {
				if list[j] != whole[j] {
					t.Fatalf("%q: %q", text[:i], list)
				}
			}
		}
	}
}

// Random values survive the splitting, in chunks of any size.
func TestSplitRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var value func(depth int) string
	value = func(depth int) string {
		switch k := rng.IntN(7); {
		case k == 0 && depth > 0:
			return fmt.Sprintf(`{"k":%s,"l":%s}`, value(depth-1), value(depth-1))
		case k == 1 && depth > 0:
			return fmt.Sprintf(`[%s, %s]`, value(depth-1), value(depth-1))
		case k < 5:
			alphabet := []string{`\"`, `\\`, "]", "}", "{", "[", ",", "é", `\u0041`, "x", ":", `\n`}
			var s string
			for range rng.IntN(8) {
				s += alphabet[rng.IntN(len(alphabet))]
			}
			return `"` + s + `"`
		}
		return fmt.Sprint(rng.IntN(100))
	}
	for range 200 {
		var text string
		n := rng.IntN(5)
		for i := range n {
			text += fmt.Sprintf(`{"request":0,"v":%s,"w":%d}`, value(3), i)
			text += []string{"", "\n", " ,", "\n\n"}[rng.IntN(4)]
		}
		if list, bad := splitText(t, text); len(list) != n || len(bad) > 0 {
			t.Fatalf("%s: %d rows of %d, %v", text, len(list), n, bad)
		}
		if list, bad := splitText(t, "["+text+"]"); len(list) != n || len(bad) > 0 {
			t.Fatalf("[%s]: %d rows of %d, %v", text, len(list), n, bad)
		}
	}
}

// A compressed document that is cut says so, small or large.
func TestNestedPageCut(t *testing.T) {
	span := `{"scopeSpans":[{"spans":[{"name":"` + strings.Repeat("n", 1000) + `"}]}]}`
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, `{"resourceSpans":[`+strings.Repeat(span+",", 40)+span+`]}`)
	w.Close()
	s, err := source.New(t.Context(), "f", bytes.NewReader(packed.Bytes()[:packed.Len()-20]), source.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenJSON(s, s.Reader())
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		_, err := r.Next()
		if err == nil && n < 41 {
			continue
		}
		if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("after %d rows: %v", n, err)
		}
		return
	}
}
