package usage

import (
	"math/rand/v2"
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
		u := Tokens{Input: opt(c.in), Output: opt(c.out), Total: opt(c.total), Cached: opt(c.cached), Written: opt(c.write),
			Reasoning: opt(c.reas), CachedBeside: c.besideC, ReasonBeside: c.besideR}
		u.Settle(Votes{}, c.rest)
		if u.Input != opt(c.wantIn) || u.Output != opt(c.wantOut) || u.Reasoning != opt(c.wantReas) {
			t.Errorf("%s: input %v, output %v, reasoning %v", c.name, u.Input, u.Output, u.Reasoning)
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
		u := Tokens{Input: trace.Some(fresh), Output: trace.Some(said), Cached: trace.Some(cached), Reasoning: trace.Some(thought),
			Total: trace.Some(fresh + cached + said + thought)}
		if cachedIn {
			u.Input.V += cached
		}
		if reasonIn {
			u.Output.V += thought
		}
		u.Settle(Votes{}, false)
		if u.Input.V != fresh+cached || u.Output.V != said+thought {
			t.Fatalf("in %d of %d, out %d of %d (inside: %v %v)", u.Input.V, fresh+cached, u.Output.V, said+thought, cachedIn, reasonIn)
		}
	}
}
