package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// conversations is a log of chats of several users, models and adapters, whose
// requests name the one that they continue; each line with its gateway.
func conversations(rng *rand.Rand, n, gateways int) (lines []string, gateway []int) {
	type chat struct {
		id, last, model string
		user            int
		messages        []map[string]string
	}
	words := strings.Fields("the cat sat on a mat and saw seven bright red boats sail over cold grey water toward home")
	text := func(k int) string {
		var b strings.Builder
		for range k {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		return b.String()
	}
	var chats []*chat
	at := 1_793_613_600_000
	for i := range n {
		var c *chat
		if len(chats) == 0 || rng.IntN(3) == 0 {
			c = &chat{id: fmt.Sprintf("chat-%d", i), user: rng.IntN(9), model: []string{"big", "small", "tiny"}[rng.IntN(3)]}
			c.messages = []map[string]string{{"role": "system", "content": strings.Repeat("you are a careful helper of "+c.model+" ", 12)}}
			chats = append(chats, c)
		} else {
			c = chats[rng.IntN(len(chats))]
		}
		c.messages = append(c.messages, map[string]string{"role": "user", "content": text(20 + rng.IntN(60))})
		at += 1 + rng.IntN(4000)
		id := fmt.Sprintf("request-%04d", i)
		line, err := json.Marshal(map[string]any{"timestamp_ms": at, "request_id": id, "parent_id": c.last, "session_id": c.id,
			"user": fmt.Sprintf("user-%d", c.user), "adapter": []string{"", "lora-x", "lora-y"}[c.user%3], "model": c.model,
			"request":  map[string]any{"model": c.model, "messages": c.messages},
			"response": map[string]any{"usage": map[string]any{"completion_tokens": 1 + rng.IntN(300)}, "choices": []any{map[string]any{"finish_reason": "stop"}}}})
		if err != nil {
			panic(err)
		}
		c.last = id
		c.messages = append(c.messages, map[string]string{"role": "assistant", "content": text(10 + rng.IntN(30))})
		lines, gateway = append(lines, string(line)), append(gateway, rng.IntN(gateways))
	}
	return lines, gateway
}

// TestFitOfShards: logs that were ingested apart under one key have the spec of
// the log that was ingested at once, sessions and prefixes included; under
// different keys, the spec says what it does not see.
func TestFitOfShards(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, data string) {
		if err := os.WriteFile(at(name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) string {
		t.Helper()
		var errs bytes.Buffer
		if code := run(t.Context(), args, stdio{in: strings.NewReader(""), out: io.Discard, err: &errs}); code != 0 {
			t.Fatalf("reprise %s: %d: %s", strings.Join(args, " "), code, errs.String())
		}
		return errs.String()
	}
	const gateways = 3
	lines, gateway := conversations(rand.New(rand.NewPCG(1, 2)), 700, gateways)
	logs := make([]string, gateways)
	for i, line := range lines {
		logs[gateway[i]] += line + "\n"
	}
	write("all.jsonl", strings.Join(lines, "\n"))
	write("key", strings.Repeat("k", 32))
	write("other", strings.Repeat("o", 32))
	write("policy.yaml", "calendar: date\nallow_models: [big, model1]\n")
	ingest := func(name, key string) string {
		return command("ingest", at(name+".jsonl"), "--policy", at("policy.yaml"), "--key-file", at(key), "-o", at(name+".trace.parquet"))
	}
	ingest("all", "key")
	var traces []string
	for i, log := range logs {
		name := fmt.Sprintf("gateway%d", i)
		write(name+".jsonl", log)
		if talk := ingest(name, "key"); !strings.Contains(talk, name+".keys.parquet") {
			t.Errorf("nothing says where the keys are: %s", talk)
		}
		traces = append(traces, at(name+".trace.parquet"))
	}
	command("fit", at("all.trace.parquet"), "-o", at("all.spec.json"))
	command(append(append([]string{"fit"}, traces...), "-o", at("apart.spec.json"))...)
	want, _ := os.ReadFile(at("all.spec.json"))
	got, _ := os.ReadFile(at("apart.spec.json"))
	if len(want) == 0 || !bytes.Equal(want, got) {
		t.Errorf("the specs differ: %s", firstLine(string(want), string(got)))
	}
	if st, err := os.Stat(at("gateway1.keys.parquet")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("keys: %v, %v", st, err)
	}
	ingest("gateway1", "other")
	if talk := command(append(append([]string{"fit"}, traces...), "-o", at("apart.spec.json"))...); !strings.Contains(talk, "different keys") || !strings.Contains(talk, "lower bounds") {
		t.Errorf("nothing is said of different keys: %s", talk)
	}
	if err := os.Remove(at("gateway1.keys.parquet")); err != nil {
		t.Fatal(err)
	}
	if talk := command(append(append([]string{"fit"}, traces...), "-o", at("apart.spec.json"))...); !strings.Contains(talk, "trace 2 has no keys beside it") {
		t.Errorf("nothing is said of missing keys: %s", talk)
	}
}

func firstLine(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: want %s, have %s", i+1, x[i], y[i])
		}
	}
	return "one is longer"
}
