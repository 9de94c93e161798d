package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// twoModels is a log in which model a has a share, whichever comes first.
func twoModels(seed uint64, first string, share float64) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	at := 1_750_000_000.0
	for i := range 1500 {
		model := "a"
		if rng.Float64() > share {
			model = "b"
		}
		if i == 0 {
			model = first
		}
		at += rng.ExpFloat64()
		fmt.Fprintf(&b, `{"ts":%.6f,"model":%q,"in":%d,"out":%d}`+"\n", at, model, 100+rng.IntN(300), 10+rng.IntN(80))
	}
	return b.String()
}

// TestNextMonth holds logs of later months to the spec of the first. Under one
// key a model has one alias in all of them, so that a changed mix is seen and the
// same mix in another order is none; without, the command says that it cannot
// tell which model is which.
func TestNextMonth(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, data := range map[string]string{"key": strings.Repeat("k", 32), "other": strings.Repeat("o", 32),
		"first.jsonl": twoModels(1, "a", 0.8), "same.jsonl": twoModels(2, "b", 0.8), "swapped.jsonl": twoModels(3, "b", 0.2)} {
		if err := os.WriteFile(at(name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, stdio{in: strings.NewReader(""), out: &out, err: &errs}); code != want {
			t.Errorf("reprise %s: exit %d, want %d: %s%s", strings.Join(args, " "), code, want, out.String(), errs.String())
		}
		return out.String() + errs.String()
	}
	ingest := func(name, as string, flags ...string) string {
		to := at(as + ".trace.parquet")
		command(0, append([]string{"ingest", at(name + ".jsonl"), "--tokenizer", "none", "--map", "arrival=ts", "--map", "model=model",
			"--map", "input_tokens=in", "--map", "output_tokens=out", "-o", to}, flags...)...)
		return to
	}
	for _, c := range []struct {
		what          string
		flags         []string
		later         []string
		swapped       int
		say, saysNone string
	}{
		{"one key", []string{"--key-file", at("key")}, []string{"--key-file", at("key")}, exitNo, "share of model model-", "changed places"},
		{"no key", nil, nil, 0, "changed places would not be seen", "mix still holds"},
		{"two keys", []string{"--key-file", at("key")}, []string{"--key-file", at("other")}, 0, "no model alias of the one is in the other", "mix still holds"},
	} {
		spec := at("first.spec.json")
		command(0, "fit", ingest("first", "first", c.flags...), "-o", spec)
		same := command(0, "compare", spec, ingest("same", "same", c.later...))
		swapped := command(c.swapped, "compare", spec, ingest("swapped", "swapped", c.later...))
		for _, out := range []string{same, swapped} {
			if !strings.Contains(out, c.say) || strings.Contains(out, c.saysNone) {
				t.Errorf("%s: %s", c.what, out)
			}
		}
	}
	// A cut has the aliases of its source.
	cut := at("cut.trace.parquet")
	command(0, "cut", at("first.trace.parquet"), "--from", "0s", "--to", "20m", "-o", cut)
	if out := command(0, "compare", at("first.trace.parquet"), cut); strings.Contains(out, "changed places") {
		t.Errorf("a cut is said to have other aliases than its source: %s", out)
	}
}
