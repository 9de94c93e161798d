package openai_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/replay"
	"reprise/replay/mock"
	"reprise/replay/mock/engine"
	"reprise/replay/openai"
	"reprise/trace"
	"reprise/trace/token"
)

// end2end replays a trace at the mock engine and returns the results.
func end2end(t *testing.T, tr *trace.Trace, api, mode string) (*replay.Dir, []replay.Result) {
	t.Helper()
	return end2endOf(t, tr, api, mode, token.NewText)
}

// end2endOf is end2end with another source of prompts.
func end2endOf(t *testing.T, tr *trace.Trace, api, mode string, source func(*token.Tokenizer, uint64) (*token.Text, error)) (*replay.Dir, []replay.Result) {
	t.Helper()
	tok, err := token.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	text, err := source(tok, 1)
	if err != nil {
		t.Fatal(err)
	}
	law, err := engine.Preset("demo")
	if err != nil {
		t.Fatal(err)
	}
	law.BaseUS, law.DecodeUS, law.PrefillUS = 500, 20, 1
	server, err := mock.Start(t.Context(), mock.DefaultConfig(law, tok))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	prompts, err := replay.NewPrompts(text, tr, mode, 42)
	if err != nil {
		t.Fatal(err)
	}
	client, err := openai.New(openai.Config{URL: server.URL(), API: api, Prompter: prompts})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	notes, err := client.Preflight(t.Context())
	// A busy machine may be told that this client stalled; nothing on the way is blamed.
	notes = slices.DeleteFunc(notes, func(n string) bool { return strings.Contains(n, "this client itself stalled") })
	if err != nil || len(notes) != 0 {
		t.Fatal(notes, err)
	}
	plan, err := replay.NewPlan(tr)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run")
	if _, err := replay.Record(t.Context(), path, replay.Run{StartedAt: time.Now().UTC().Format(time.RFC3339), Endpoint: client.Endpoint()}, plan, client, replay.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	d, err := replay.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []replay.Result
	for r, err := range d.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return d, out
}

// shared is a trace in which each request repeats the first k blocks of the
// first, one after the other in time.
func shared(n int) *trace.Trace {
	tr := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	next := int32(8)
	for i := range n {
		q := trace.Request{ID: int64(i), T: trace.Some(int64(i) * 40_000), N: 1, Input: trace.Some(int32(100 + i)), Output: trace.Some(int32(5 + i%7))}
		for b := range int32(i % 6) {
			q.Blocks = append(q.Blocks, b)
		}
		if i == 0 {
			q.Blocks = []int32{0, 1, 2, 3, 4, 5}
		}
		for len(q.Blocks)*16 < int(q.Input.V) {
			q.Blocks = append(q.Blocks, next)
			next++
		}
		tr.Requests = append(tr.Requests, q)
	}
	return tr
}

// What the server counts is what the trace asks for: prompt and output tokens
// exactly, by both APIs, and cached tokens where the trace shares blocks.
func TestMockEndToEnd(t *testing.T) {
	tr := shared(30)
	for _, c := range []struct {
		name, api string
		source    func(*token.Tokenizer, uint64) (*token.Text, error)
	}{{"chat", openai.Chat, token.NewText}, {"completions", openai.Completions, token.NewText}, {"token ids", openai.Completions, token.NewIDs}} {
		api := c.name
		d, results := end2endOf(t, tr, c.api, replay.CacheWorkload, c.source)
		cached := int32(0)
		for i, r := range results {
			q := tr.Requests[i]
			if r.Class != replay.OK || r.Finish != trace.FinishLength {
				t.Fatalf("%s, row %d: %v, %v", api, i, r.Class, r.Finish)
			}
			if r.InUsage != q.Input || r.InAsked != q.Input || r.OutUsage != q.Output || r.NEvents != q.Output.V {
				t.Fatalf("%s, row %d: asked for %d and %d tokens, got %d and %d in %d events", api, i, q.Input.V, q.Output.V, r.InUsage.V, r.OutUsage.V, r.NEvents)
			}
			if r.Dispatch.V < r.Sched || r.WriteEnd.V < r.ConnReady.V || r.FirstContent.V < r.WriteEnd.V || r.End.V < r.LastContent.V {
				t.Fatalf("row %d: %+v", i, r)
			}
			cached += r.Cached.V
		}
		// The server caches whole blocks of its rendering, template included, so
		// it may find up to a block less or the template more in each prompt.
		hits := int32(float64(replay.ExpectedHitRate(tr)) * float64(total(tr)))
		if cached < hits-16*30 || cached > hits+16*30 || hits == 0 {
			t.Fatalf("%s: %d tokens cached, the trace shares %d", api, cached, hits)
		}
		t.Logf("%s: template %d, %d tokens cached of %d shared, client %s (p99 %g ms)", api, d.Run.Endpoint.Template, cached, hits, d.Run.Verdict.Verdict, d.Run.Verdict.LagP99MS)
	}
	_, results := end2end(t, tr, openai.Chat, replay.CacheNone)
	for i, r := range results {
		if r.Cached.Or(0) > 16 { // the template may be shared
			t.Fatalf("cache mode none: row %d has %d tokens cached", i, r.Cached.V)
		}
	}
}

func total(tr *trace.Trace) (n int64) {
	for i := range tr.Requests {
		n += int64(tr.Requests[i].Input.V)
	}
	return n
}

// Token ids go to the completions API only.
func TestIDsWantCompletions(t *testing.T) {
	tok, err := token.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	text, err := token.NewIDs(tok, 1)
	if err != nil {
		t.Fatal(err)
	}
	prompts, err := replay.NewPrompts(text, shared(3), replay.CacheKeep, 0)
	if err != nil {
		t.Fatal(err)
	}
	if notes := prompts.Notes(); len(notes) == 0 || !replay.IDs(prompts) {
		t.Error(notes)
	}
	for url, ok := range map[string]bool{"http://h": false, "http://h/v1/chat/completions": false, "http://h/v1/completions": true} {
		if _, err := openai.New(openai.Config{URL: url, Prompter: prompts}); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}
