package ingest

import (
	"fmt"
	"strings"
	"testing"
)

// Rows without a total follow those of their provider that have one.
func TestProvidersTell(t *testing.T) {
	var b strings.Builder
	row := func(provider string, in, out, cached int, total string) {
		fmt.Fprintf(&b, `{"p":%q,"i":%d,"o":%d,"c":%d%s}`+"\n", provider, in, out, cached, total)
	}
	row("anthropic", 500, 5, 400, `,"t":905`)
	row("anthropic", 500, 5, 400, "")
	row("openai", 500, 5, 400, `,"t":505`)
	row("openai", 500, 5, 400, "")
	row("other", 500, 5, 400, "")
	m, err := ParseMap([]string{"provider=p", "input_tokens=i", "output_tokens=o", "cached_tokens=c", "total_tokens=t"})
	if err != nil {
		t.Fatal(err)
	}
	l, recs, _, err := fromText(t, b.String(), m)
	if err != nil || len(recs) != 5 {
		t.Fatal(recs, err)
	}
	for i, want := range []int32{900, 900, 500, 500, 500} {
		if recs[i].InputTokens.V != want {
			t.Errorf("row %d: %d input tokens, want %d", i+1, recs[i].InputTokens.V, want)
		}
	}
	if notes := strings.Join(l.Notes(), "; "); !strings.Contains(notes, "2 rows count cached input tokens beside the input") {
		t.Error(notes)
	}
}

// Zeroes that nobody counted are gaps; a source that means them can say so.
func TestZeroes(t *testing.T) {
	text := `{"i":0,"o":0,"x":"said"}` + "\n" + `{"i":9,"o":0,"x":"said"}` + "\n" + `{"i":9,"o":0}` + "\n"
	m, _ := ParseMap([]string{"input_tokens=i", "output_tokens=o", "output=x"})
	_, recs, _, err := fromText(t, text, m)
	if err != nil || len(recs) != 3 {
		t.Fatal(recs, err)
	}
	if recs[0].InputTokens.OK || recs[0].OutputTokens.OK || !recs[1].InputTokens.OK || recs[1].OutputTokens.OK || !recs[2].OutputTokens.OK {
		t.Fatalf("%+v", recs)
	}
}
