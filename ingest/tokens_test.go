package ingest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/trace"
)

// Counts that a real log gave, and what was read and generated in truth: the
// first three from files of ../shared/data, the others from the providers'
// documentation of what their counts include.
func TestWhatCountsInclude(t *testing.T) {
	opt := func(v int64) trace.Opt[int64] { return trace.Opt[int64]{V: max(v, 0), OK: v >= 0} }
	for _, c := range []struct {
		name                                string
		in, out, total, cached, write, reas int64 // -1 is absent
		besideC, besideR, rest              bool
		wantIn, wantOut, wantReas           int64
	}{
		{"langgraph: reasoning beside", 179, 35, 278, 0, -1, 64, false, false, true, 179, 99, 64},
		{"gemini: reasoning inside", 6, 2055, 2061, -1, -1, 1104, false, true, true, 6, 2055, 1104},
		{"vertex: thoughts in the total alone", 5, 845, 2023, -1, -1, -1, false, false, true, 5, 2018, 1173},
		{"vertex: thoughts counted", 3, 29, 933, -1, -1, 901, false, true, true, 3, 930, 901},
		{"openai: all inside", 1200, 20, 1220, 1024, -1, 8, false, false, false, 1200, 20, 8},
		{"anthropic: no total, more cached than input", 12, 33, -1, 2000, 100, -1, false, false, false, 2112, 33, -1},
		{"anthropic: no total, the mapping says beside", 3000, 33, -1, 2000, -1, -1, true, false, false, 5000, 33, -1},
		{"converse: total with the cache", 12, 5, 2065, 2048, -1, -1, false, false, false, 2060, 5, -1},
		{"cache written", 10, 5, 115, 0, 100, -1, true, false, false, 110, 5, -1},
		{"the total overrules the mapping", 100, 5, 105, 64, -1, -1, true, false, false, 100, 5, -1},
		{"both beside", 10, 5, 142, 100, -1, 27, false, false, false, 110, 32, 27},
		{"a total that fits nothing", 10, 5, 99, 8, -1, 3, false, false, false, 10, 5, 3},
		{"only input and total", 10, -1, 99, -1, -1, -1, false, false, false, 10, 89, -1},
		{"only output and total", -1, 9, 99, -1, -1, -1, false, false, false, 90, 9, -1},
	} {
		u := usage{input: opt(c.in), output: opt(c.out), total: opt(c.total), cached: opt(c.cached), written: opt(c.write),
			reasoning: opt(c.reas), cachedBeside: c.besideC, reasonBeside: c.besideR}
		u.settle(votes{}, c.rest)
		if u.input != opt(c.wantIn) || u.output != opt(c.wantOut) || u.reasoning != opt(c.wantReas) {
			t.Errorf("%s: input %v, output %v, reasoning %v", c.name, u.input, u.output, u.reasoning)
		}
	}
}

// Whatever a provider includes, the identity finds it for rows with a total.
func TestIdentityFindsIt(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		fresh, cached, said, thought := rng.Int64N(5000)+1, rng.Int64N(5000)+1, rng.Int64N(900)+1, rng.Int64N(900)+1
		if cached == thought {
			continue // either could be the one beside
		}
		cachedIn, reasonIn := rng.IntN(2) == 0, rng.IntN(2) == 0
		u := usage{input: trace.Some(fresh), output: trace.Some(said), cached: trace.Some(cached), reasoning: trace.Some(thought),
			total: trace.Some(fresh + cached + said + thought)}
		if cachedIn {
			u.input.V += cached
		}
		if reasonIn {
			u.output.V += thought
		}
		u.settle(votes{}, false)
		if u.input.V != fresh+cached || u.output.V != said+thought {
			t.Fatalf("in %d of %d, out %d of %d (inside: %v %v)", u.input.V, fresh+cached, u.output.V, said+thought, cachedIn, reasonIn)
		}
	}
}

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
