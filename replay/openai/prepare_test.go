package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"reprise/replay"
	"reprise/trace"
	vocabulary "reprise/trace/token"
)

// sent is the part of a body that these tests look at.
type sent struct {
	Model     string
	IgnoreEOS bool `json:"ignore_eos"`
	Messages  []struct{ Content string }
	Tools     []json.RawMessage
	Choice    string          `json:"tool_choice"`
	Format    json.RawMessage `json:"response_format"`
}

func body(t *testing.T, c *Client, r trace.Request) (sent, string) {
	t.Helper()
	k, err := c.Prepare(replay.Job{Row: r.ID, Request: r})
	if err != nil {
		t.Fatal(err)
	}
	text := string(k.(*call).data[c.room:])
	var s sent
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return s, text
}

// featured is a trace with a request of each kind.
func featured() *trace.Trace {
	row := func(id int64, in int32, with func(*trace.Request)) trace.Request {
		r := trace.Request{ID: id, N: 1, T: some(id * 1000), Input: some(in), Output: some[int32](4)}
		for b := int32(0); b*16 < in; b++ {
			r.Blocks = append(r.Blocks, b+int32(id)*1000)
		}
		with(&r)
		return r
	}
	return &trace.Trace{Header: trace.Header{BlockTokens: 16}, Requests: []trace.Request{
		row(0, 300, func(*trace.Request) {}),
		row(1, 900, func(r *trace.Request) { r.Tools, r.ToolTok = some(true), some[int32](400) }),
		row(2, 300, func(r *trace.Request) { r.Schema, r.SchemaT = some(true), some[int32](90) }),
		row(3, 900, func(r *trace.Request) {
			r.ToolTok, r.SchemaT, r.Schema = some[int32](317), some[int32](64), some(true)
		}),
		row(4, 80, func(r *trace.Request) { r.Adapter = "a1" }),
		row(5, 200, func(r *trace.Request) { r.Tools = some(true) }), // of unknown size
	}}
}

func prompted(t *testing.T, tr *trace.Trace, url string, with func(*Config)) *Client {
	t.Helper()
	tok, err := vocabulary.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	text, err := vocabulary.NewText(tok, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPrompts(text, tr, replay.CacheWorkload, 4)
	if err != nil {
		t.Fatal(err)
	}
	return client(t, url, func(c *Config) {
		c.Prompter = p
		if with != nil {
			with(c)
		}
	})
}

// Tools and schema come to their recorded tokens, and the prompt to its
// recorded length, by the server's count.
func TestFeatures(t *testing.T) {
	tr := featured()
	c := prompted(t, tr, start(t, model(11, 1)), func(c *Config) {
		c.Tools, c.Schema, c.Adapters = true, true, map[string]string{"a1": "m"}
	})
	notes, err := c.Preflight(t.Context())
	if err != nil || len(notes) != 2 || !strings.Contains(notes[0], "30 and 17 for each") || !strings.Contains(notes[1], "21 and words") {
		t.Fatal(notes, err)
	}
	if c.layout != (layout{8, 3}) {
		t.Errorf("layout %+v", c.layout)
	}
	for _, r := range tr.Requests {
		s, _ := body(t, c, r)
		k, err := c.Prepare(replay.Job{Row: r.ID, Request: r})
		if err != nil {
			t.Fatal(err)
		}
		got := k.Send(t.Context(), replay.NewFlight(replay.NewTimer(time.Now())))
		if got.Class != replay.OK || got.InUsage != r.Input || got.InAsked != r.Input {
			t.Errorf("row %d: %v, %d of %d tokens", r.ID, got.Class, got.InUsage.V, r.Input.V)
		}
		schema := r.Schema.V
		if s.IgnoreEOS == schema || (s.Format != nil) != schema || (s.Tools != nil) != (r.Tools.V || r.ToolTok.OK) || s.Tools != nil && s.Choice != "none" {
			t.Errorf("row %d: %+v", r.ID, s)
		}
	}
	// The fixed part of k tools and words: 400 are 30 + 3·17 + words.
	s, _ := body(t, c, tr.Requests[1])
	words := 0
	for _, raw := range s.Tools {
		var f struct {
			Function struct{ Name, Description string }
		}
		if json.Unmarshal(raw, &f) != nil || len(f.Function.Description) > 1024 {
			t.Errorf("%s", raw)
		}
		words += len(strings.Fields(f.Function.Description))
	}
	if 30+17*len(s.Tools)+words != 400 {
		t.Errorf("%d tools with %d words", len(s.Tools), words)
	}
}

// Requests that share blocks share their tools.
func TestToolsAreShared(t *testing.T) {
	tr := featured()
	a, b := tr.Requests[1], tr.Requests[1]
	b.ID, b.Blocks = 9, append([]int32(nil), a.Blocks...)
	for i := 30; i < len(b.Blocks); i++ {
		b.Blocks[i] += 5000
	}
	c := prompted(t, tr, start(t, model(11, 1)), func(c *Config) { c.Tools = true })
	if _, err := c.Preflight(t.Context()); err != nil {
		t.Fatal(err)
	}
	x, _ := body(t, c, a)
	y, _ := body(t, c, b)
	if fmt.Sprintf("%s", x.Tools) != fmt.Sprintf("%s", y.Tools) {
		t.Error("tools differ")
	}
	u, v := strings.Fields(x.Messages[0].Content), strings.Fields(y.Messages[0].Content)
	n := 0
	for n < len(u) && u[n] == v[n] {
		n++
	}
	if n < 72 || n > 73 { // 30 blocks of 16, less 8 of the template and 400 of tools
		t.Errorf("%d words alike after the tools, want 72", n)
	}
}

// What a server refuses of tools and schemas goes as text, and is said.
func TestFeaturesRefused(t *testing.T) {
	tr := featured()
	c := prompted(t, tr, start(t, model(11, 1, "tools", "response_format")), func(c *Config) { c.Tools, c.Schema = true, true })
	notes, err := c.Preflight(t.Context())
	if err != nil || len(notes) != 2 || !strings.HasPrefix(notes[0], "tools are not replayed") || !strings.HasPrefix(notes[1], "JSON schemas are not replayed") {
		t.Fatal(notes, err)
	}
	if s, _ := body(t, c, tr.Requests[3]); s.Tools != nil || s.Format != nil || len(strings.Fields(s.Messages[0].Content)) != 900-11 || !s.IgnoreEOS {
		t.Errorf("%+v", s)
	}
}

func TestAdapters(t *testing.T) {
	tr := featured()
	c := prompted(t, tr, "http://h", func(c *Config) { c.Adapters = map[string]string{"a1": "sql-lora"} })
	if s, _ := body(t, c, tr.Requests[4]); s.Model != "sql-lora" {
		t.Errorf("%+v", s.Model)
	}
	if s, _ := body(t, c, tr.Requests[0]); s.Model != "m" {
		t.Errorf("%+v", s.Model)
	}
	if _, err := prompted(t, tr, "http://h", nil).Prepare(replay.Job{Request: tr.Requests[4]}); err == nil || !strings.Contains(err.Error(), "a1") {
		t.Error(err)
	}
}

// To a server that refuses ignore_eos the prompt ends in a sentence that asks it
// to write on, and is as long as before.
func TestClosing(t *testing.T) {
	tr := featured()
	const sentence = " Now write on and on."
	c := prompted(t, tr, start(t, model(11, 1, "ignore_eos")), func(c *Config) { c.Closing = Closing{sentence, 5} })
	if _, err := c.Preflight(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, _ := body(t, c, tr.Requests[0])
	if text := s.Messages[0].Content; !strings.HasSuffix(text, sentence) || len(strings.Fields(text)) != 300-11 || s.IgnoreEOS {
		t.Errorf("%d words, %q", len(strings.Fields(text)), text[len(text)-40:])
	}
	short := tr.Requests[0]
	short.Input = some[int32](20)
	if s, _ = body(t, c, short); strings.Contains(s.Messages[0].Content, "write on") || len(strings.Fields(s.Messages[0].Content)) != 9 {
		t.Errorf("%q", s.Messages[0].Content)
	}
	c = prompted(t, tr, start(t, model(11, 1)), func(c *Config) { c.Closing = Closing{sentence, 5} })
	if _, err := c.Preflight(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, _ = body(t, c, tr.Requests[0]); strings.Contains(s.Messages[0].Content, "write on") || !s.IgnoreEOS {
		t.Error("a server that ignores the end needs no sentence")
	}
}

// Where nothing is known of the template, blocks stay whole for every split
// whose part behind the text is shorter than a block.
func TestAssumedLayout(t *testing.T) {
	for n := int32(0); n < 200; n++ {
		l := assume(n)
		if l.front+l.back != n || l.front < 0 || l.back < 0 {
			t.Fatalf("%d: %+v", n, l)
		}
		for back := int32(0); back < min(cacheBlock, n+1); back++ {
			front := n - back
			for k := int32(1); k < 40; k++ { // blocks that two prompts share
				// The text shares what its blocks hold behind l.front; the server
				// sees that behind its own front.
				server := front + k*16 - l.front
				if l.front > 16*k {
					continue // of the template alone
				}
				if server/16 != k {
					t.Fatalf("a template of %d+%d tokens taken as %+v: %d shared blocks become %d", front, back, l, k, server/16)
				}
			}
		}
	}
}

// A proxy that keeps an answer until it is whole is told by one request alone; a
// server that is merely fast is not, and neither is a slow first token.
func TestBunched(t *testing.T) {
	slow := func(hold, first bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			data, _ := io.ReadAll(r.Body)
			var q struct {
				Max int `json:"max_tokens"`
			}
			json.Unmarshal(data, &q)
			io.WriteString(w, role)
			w.(http.Flusher).Flush()
			if first {
				time.Sleep(20 * time.Millisecond)
			}
			for range q.Max {
				if !first {
					time.Sleep(time.Millisecond)
				}
				io.WriteString(w, hello)
				if !hold {
					w.(http.Flusher).Flush()
				}
			}
			fmt.Fprintf(w, `data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`+"\n\n"+done, 11+len(strings.Fields(string(data))), q.Max)
		}
	}
	for name, c := range map[string]struct {
		h     http.HandlerFunc
		want  bool
		stall time.Duration // of the client, by its heartbeat
		note  string
	}{
		"held": {slow(true, false), true, 0, "arrived in bunches"}, "flushed": {slow(false, false), false, 0, ""},
		"slow first token":  {slow(true, true), false, 0, ""},
		"a client's hiccup": {slow(true, false), false, 200 * time.Millisecond, "this client itself stalled for up to 200 ms"},
	} {
		cl := client(t, start(t, c.h), func(c *Config) { c.Inexact = true })
		cl.heartbeat = func() func() time.Duration { return func() time.Duration { return c.stall } }
		notes, err := cl.Preflight(t.Context())
		said := strings.Join(notes, " ")
		if err != nil || cl.Path().Bunched != c.want || strings.Contains(said, "bunches") != (c.note != "") || !strings.Contains(said, c.note) {
			t.Errorf("%s: %v, %q, %v", name, cl.Path().Bunched, notes, err)
		}
		if p := cl.Path(); (p.EventsAlone == 24) != (c.stall == 0) || p.ReadsAlone > p.EventsAlone {
			t.Errorf("%s: %+v", name, p)
		}
		if p := cl.Path(); p.Handshakes != 5 || p.HandshakeMS <= 0 || p.OneTokenMS <= 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// A server that takes ignore_eos and stops early all the same is said so.
func TestUnheeded(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		flushed(role, hello, finish, fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`+"\n\n", words32(data)), done)(w, r)
	}
	c := client(t, start(t, http.HandlerFunc(h)), nil)
	notes, err := c.Preflight(t.Context())
	if err != nil || !strings.Contains(strings.Join(notes, " "), "does not heed them: 1 tokens came of 24") || c.Endpoint().IgnoreEOS {
		t.Fatal(notes, err)
	}
}

func words32(data []byte) int {
	var s sent
	json.Unmarshal(data, &s)
	return 5 + len(strings.Fields(s.Messages[0].Content))
}

// The text of an answer is given where it was asked for.
func TestKeepText(t *testing.T) {
	url := start(t, flushed(role, hello, hello, finish, done))
	for keep, want := range map[bool]string{true: "hellohello", false: ""} {
		c := client(t, url, func(c *Config) { c.KeepText = keep })
		k, err := c.Prepare(job(3, 2))
		if err != nil {
			t.Fatal(err)
		}
		r := k.Send(t.Context(), replay.NewFlight(replay.NewTimer(time.Now())))
		got := ""
		if r.Said != nil {
			got = strings.ReplaceAll(string(r.Said.Content), " ", "")
		}
		if got != want {
			t.Errorf("kept %q, want %q", got, want)
		}
	}
}

// The texts of two choices are kept apart, of a stream that vLLM 0.32 sent.
func TestSeveralChoices(t *testing.T) {
	data, err := os.ReadFile("../../testdata/vectors/vllm-0.32/chat-stream-n2.json")
	if err != nil {
		t.Fatal(err)
	}
	var rec struct{ Body string }
	if err := json.Unmarshal(data, &rec); err != nil {
		t.Fatal(err)
	}
	want := map[int]string{}
	for line := range strings.Lines(rec.Body) {
		var v struct {
			Choices []struct {
				Index int
				Delta struct{ Content string }
			}
		}
		if text, ok := strings.CutPrefix(line, "data: {"); ok && json.Unmarshal([]byte("{"+text), &v) == nil {
			for _, c := range v.Choices {
				want[c.Index] += c.Delta.Content
			}
		}
	}
	c := client(t, start(t, flushed(rec.Body)), func(c *Config) { c.KeepText = true })
	q := job(3, 4)
	q.Request.N = 2
	k, err := c.Prepare(q)
	if err != nil {
		t.Fatal(err)
	}
	if body := string(k.(*call).data); !strings.Contains(body, `"n":2,"temperature":1,`) || !strings.Contains(body, `"max_tokens":2,`) {
		t.Errorf("%s", body)
	}
	r := k.Send(t.Context(), replay.NewFlight(replay.NewTimer(time.Now())))
	if r.Class != replay.OK || r.OutAsked.V != 4 || len(want) != 2 || r.Said == nil || len(r.Said.More) != 1 {
		t.Fatalf("%v (%s), %d tokens asked for, %d choices, %+v", r.Class, r.Reason, r.OutAsked.V, len(want), r.Said)
	}
	for i, text := range want {
		var got string
		if err := json.Unmarshal([]byte(`"`+string(r.Said.Choice(int32(i)).Content)+`"`), &got); err != nil || got != text || text == "" {
			t.Errorf("choice %d said %q, want %q", i, got, text)
		}
	}
}

// Output tokens of several choices are those of all: of one usage at the end, of
// one behind each choice (llama.cpp), of one in every event besides.
func TestUsageOfSeveralChoices(t *testing.T) {
	const (
		one   = `data: {"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}` + "\n\n"
		two   = `data: {"choices":[{"index":1,"delta":{"content":"b"}}],"usage":{"prompt_tokens":9,"completion_tokens":2}}` + "\n\n"
		alone = `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}` + "\n\n"
	)
	for _, c := range []struct {
		n      int16
		stream []string
		want   int32
	}{
		{2, []string{one, two, alone, done}, 3}, {2, []string{hello, alone, hello, alone, done}, 6}, {2, []string{one, two, done}, 2},
		{1, []string{hello, alone, alone, done}, 3},
	} {
		q := job(9, 4)
		q.Request.N = c.n
		k, err := client(t, start(t, flushed(c.stream...)), nil).Prepare(q)
		if err != nil {
			t.Fatal(err)
		}
		if r := k.Send(t.Context(), replay.NewFlight(replay.NewTimer(time.Now()))); r.Class != replay.OK || r.OutUsage.V != c.want || r.InUsage.V != 9 {
			t.Errorf("n %d, %q: %v, %d output tokens, want %d", c.n, c.stream, r.Class, r.OutUsage.V, c.want)
		}
	}
}
