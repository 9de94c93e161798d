package sanitize

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"reprise/ingest"
	"reprise/trace"
	"reprise/trace/block"
)

const canary = "CANARY"

// marked is a row of the openai shape with a canary in every string that a
// customer can set, keys of their own included.
func marked(i int) map[string]any {
	c := func(s string) string { return fmt.Sprintf("%s-%s-%d", canary, s, i%7) }
	return map[string]any{
		"timestamp": fmt.Sprintf("2026-03-02T14:05:%02d.%03dZ", i%60, i), "session_id": c("session"), "user": c("user"), "request_id": c("id"),
		"parent_id": c("id"), "adapter": c("adapter"), "metadata": map[string]any{c("key"): c("value")}, "endpoint": "/v1/chat/completions",
		"request": map[string]any{"model": c("model"), "stream": true, "max_tokens": 10 + i, "stop": c("stop"),
			"messages": []any{map[string]any{"role": c("role"), "name": c("name"), "content": c("system")},
				map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": c("part")}, map[string]any{"type": "image_url", "image_url": c("url")}}},
				map[string]any{"role": "tool", "tool_call_id": c("call"), "content": c("tool")}},
			"tools":           []any{map[string]any{"type": "function", "function": map[string]any{"name": c("function"), "description": c("description")}}},
			"response_format": map[string]any{"type": c("format")}},
		"response": map[string]any{"id": c("response"), "choices": []any{map[string]any{"finish_reason": c("finish"), "message": map[string]any{"role": "assistant", "content": c("answer"), "reasoning_content": c("thought")}}},
			"usage": map[string]any{"prompt_tokens": 90, "completion_tokens": 5}},
		"status": 200, "error": c("error"), "cache_hit": c("cache"),
	}
}

func markedLog(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		row, _ := json.Marshal(marked(i))
		b.Write(append(row, '\n'))
	}
	return b.Bytes()
}

// output runs the whole pass and returns everything that it would show or
// write: trace, errors of rows, account, notes.
func output(t testing.TB, text []byte, p Policy, tok Tokenizer) string {
	t.Helper()
	var out bytes.Buffer
	l, err := ingest.Open(context.Background(), ingest.Inputs{Stdin: bytes.NewReader(text)})
	if err != nil {
		return err.Error()
	}
	watched := func(yield func(ingest.Record, error) bool) {
		for r, err := range l.Records() {
			if err != nil {
				fmt.Fprintln(&out, err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
	room := Room{Dir: t.TempDir(), Memory: 2048} // little stays in memory
	rows, err := Collect(t.Context(), watched, false, p, tok, block.NewKey(), room)
	if err != nil {
		return fmt.Sprint(out.String(), err, l.Notes())
	}
	fmt.Fprint(&out, rows.Account.TooBad(0), l.Notes())
	files := spilled(t, room.Dir)
	fmt.Fprintf(&out, "%d bytes spilled", len(files))
	out.Write(files)
	tr, err := rows.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range tr.Requests {
		fmt.Fprintf(&out, "%+v\n", tr.Requests[i])
	}
	tr.Header.Sources = l.Sources()
	if err := trace.Write(&out, tr.Header, tr.All()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// spilled is what stands in the temporary files of a folder, which have no
// names any more.
func spilled(t testing.TB, dir string) []byte {
	var all []byte
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, dir) {
			data, err := os.ReadFile(fd)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data...)
		}
	}
	return all
}

// No string of the customer reaches a trace or a temporary file.
func TestCanary(t *testing.T) {
	tok := open(t, "o200k_base")
	got := output(t, markedLog(200), DefaultPolicy(), tok)
	if runtime.GOOS == "linux" && strings.Contains(got, "]0 bytes spilled") {
		t.Fatal("no temporary file was looked into")
	}
	if strings.Contains(got, canary) || !strings.Contains(got, "model7") {
		t.Fatalf("the canary is out, or nothing came: %.300s", got)
	}
	p := DefaultPolicy()
	p.AllowModels = []string{canary + "-model-3"}
	tr, _ := apply(t, ingest.Inputs{Stdin: bytes.NewReader(markedLog(50))}, p)
	models := map[string]bool{}
	for _, q := range tr.Requests {
		models[q.Model] = true
	}
	if len(models) != 7 || !models[canary+"-model-3"] || !models["model6"] || models["model7"] {
		t.Fatalf("an allowed name, and no other, is kept: %v", models)
	}
}

// Nor does any reach an error, however the log is broken: bytes changed, cut
// out, doubled, after a start that is whole enough to be recognised.
func TestCanaryInErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	whole := markedLog(8)
	start := bytes.IndexByte(whole, '\n') + 1
	odd := []byte("\"{}[],:\\\x00\xff\n-9eE.")
	for range 400 {
		text := bytes.Clone(whole)
		for range 1 + rng.IntN(6) {
			at := start + rng.IntN(len(text)-start)
			switch rng.IntN(3) {
			case 0:
				text[at] = odd[rng.IntN(len(odd))]
			case 1:
				text = append(text[:at], text[min(at+rng.IntN(40), len(text)):]...)
			default:
				text = append(text[:at:at], append(bytes.Clone(text[at:min(at+20, len(text))]), text[at:]...)...)
			}
			if len(text) <= start+1 {
				text = bytes.Clone(whole)
			}
		}
		if got := output(t, text, DefaultPolicy(), nil); strings.Contains(got, canary) {
			t.Fatalf("%q\ngives %.600s", text, got)
		}
	}
}

// The hostile files go through the whole pass without a panic, without a
// canary, and with every row accounted for.
func TestHostileFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "hostile", "*"))
	if err != nil || len(files) < 40 {
		t.Fatal(len(files), err)
	}
	tok := open(t, "o200k_base")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := output(t, b, DefaultPolicy(), tok); strings.Contains(got, canary) {
			t.Errorf("%s gives %.300s", f, got)
		}
	}
	for file, want := range map[string]string{
		"cached_over.jsonl": `{}`, "no_time.jsonl": `"no_time":1`, "relative_time.jsonl": `"mixed_clock":1`, "blocks.jsonl": `"bad_blocks":3`,
	} {
		tr, a := apply(t, ingest.Inputs{Paths: []string{filepath.Join("..", "testdata", "hostile", file)}}, DefaultPolicy())
		if got, _ := json.Marshal(a.Counts().Rejected); !strings.Contains(string(got), want) || a.Counts().Check() != nil || tr.Header.Counts.Kept != a.Kept {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
