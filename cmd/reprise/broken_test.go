package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"reprise/trace/token"
)

// TestBrokenPrefix runs testdata/prefix: logs that are too long for a script.
func TestBrokenPrefix(t *testing.T) {
	root, err := filepath.Abs(module)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: filepath.Join(root, "testdata", "prefix"), RequireExplicitExec: true, UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			for name, dated := range map[string]bool{"dated.jsonl": true, "plain.jsonl": false} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), promptLog(t, dated), 0o600); err != nil {
					return err
				}
			}
			return nil
		}})
}

// promptLog is 300 requests, a second apart, of one instruction block of 2,000
// tokens, with a time of day before it or behind.
func promptLog(t *testing.T, before bool) []byte {
	tok, err := token.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	words := strings.Fields("the answer must name each rule that holds for a claim and say which part of the contract it is taken from before any sum is told")
	var block []string
	for len(tok.Encode(nil, strings.Join(block, " "))) < 2000 {
		block = append(block, words[rng.IntN(len(words))])
	}
	text := strings.Join(block, " ")
	var b strings.Builder
	for i := range 300 {
		date := fmt.Sprintf("You are the assistant of an insurer. Date: %02d:%02d:%02d.\n", i/60, i%60, rng.IntN(60))
		prompt := date + text
		if !before {
			prompt = text + date
		}
		fmt.Fprintf(&b, `{"timestamp":"2026-11-30T10:%02d:%02dZ","request":{"model":"m","messages":[{"role":"system","content":%q},{"role":"user","content":"Case %d %d?"}]},"response":{"choices":[{"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}],"usage":{"completion_tokens":2}}}`+"\n",
			i/60, i%60, prompt, i, rng.IntN(1000))
	}
	return []byte(b.String())
}
