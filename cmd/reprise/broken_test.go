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
			for name, data := range map[string][]byte{"dated.jsonl": promptLog(t, true), "plain.jsonl": promptLog(t, false), "two.jsonl": twoLogs(t)} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), data, 0o600); err != nil {
					return err
				}
			}
			return nil
		}})
}

// logLine is a row: minute, second, system prompt, and two numbers that make the
// question another one each time.
const logLine = `{"timestamp":"2026-11-30T10:%02d:%02dZ","request":{"model":"m","messages":[{"role":"system","content":%q},{"role":"user","content":"Case %d %d?"}]},"response":{"choices":[{"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}],"usage":{"completion_tokens":2}}}` + "\n"

// instructions are words to the number of n tokens.
func instructions(tok *token.Tokenizer, rng *rand.Rand, words []string, n int) string {
	var block []string
	for len(tok.Encode(nil, strings.Join(block, " "))) < n {
		block = append(block, words[rng.IntN(len(words))])
	}
	return strings.Join(block, " ")
}

// twoLogs is 400 requests of two applications, in turns of five: three with a
// time of day early in the prompt and 2,000 tokens behind it, two with an id
// later on and 1,000 other tokens.
func twoLogs(t *testing.T) []byte {
	tok, err := token.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	first := instructions(tok, rng, strings.Fields("the answer must name each rule that holds for a claim and say which part of the contract it is taken from"), 2000)
	second := instructions(tok, rng, strings.Fields("write one line for every invoice with its number date net sum tax rate and currency as they stand on the page"), 1000)
	var b strings.Builder
	for i := range 400 {
		prompt := fmt.Sprintf("You are the assistant of an insurer. Date: %02d:%02d:%02d.\n%s", i/60, i%60, rng.IntN(60), first)
		if i%5 >= 3 {
			prompt = fmt.Sprintf("You read the invoices of a company that trades in timber, and you write what they say into a table for its bookkeepers. Document %08x.\n%s", rng.Uint32(), second)
		}
		fmt.Fprintf(&b, logLine, i/60, i%60, prompt, i, rng.IntN(1000))
	}
	return []byte(b.String())
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
	text := instructions(tok, rng, words, 2000)
	var b strings.Builder
	for i := range 300 {
		date := fmt.Sprintf("You are the assistant of an insurer. Date: %02d:%02d:%02d.\n", i/60, i%60, rng.IntN(60))
		prompt := date + text
		if !before {
			prompt = text + date
		}
		fmt.Fprintf(&b, logLine,
			i/60, i%60, prompt, i, rng.IntN(1000))
	}
	return []byte(b.String())
}
