package mock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"reprise/replay/mock/engine"
)

// words counts one token for each word; equal words have equal ids.
type words struct{}

func (words) Encode(dst []int32, text string) []int32 {
	for _, w := range strings.Fields(text) {
		h := uint64(0)
		for _, c := range []byte(w) {
			h = engine.Mix(h ^ uint64(c))
		}
		dst = append(dst, int32(h>>40))
	}
	return dst
}

// fastLaw is quick in real time: a step takes about 0.2 ms.
func fastLaw() engine.Law {
	l := testLaw()
	l.BaseUS, l.DecodeUS, l.PrefillUS = 200, 1, 0
	return l
}

func testConfig(change ...func(*Config)) Config {
	cfg := DefaultConfig(fastLaw(), words{})
	for _, f := range change {
		f(&cfg)
	}
	return cfg
}

func serve(t *testing.T, change ...func(*Config)) (*httptest.Server, *Handler) {
	t.Helper()
	h, err := NewHandler(testConfig(change...))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.Close(); h.Close() })
	return s, h
}

func post(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(data)
}

// chunk is what a client reads of an event.
type chunk struct {
	ID, Object, Model string
	Created           int64
	Choices           []struct {
		Index int
		Delta struct {
			Role    *string
			Content *string
		}
		Message      struct{ Role, Content string }
		Text         *string
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	SendNS int64 `json:"x_mock_send_ns"`
}

// events parses a stream strictly: data lines, blank lines, [DONE] at the end.
func events(t *testing.T, body string) []chunk {
	t.Helper()
	parts := strings.Split(body, "\n\n")
	if n := len(parts); n < 2 || parts[n-1] != "" || parts[n-2] != "data: [DONE]" {
		t.Fatalf("no [DONE] at the end of %q", body)
	}
	var out []chunk
	for _, p := range parts[:len(parts)-2] {
		data, ok := strings.CutPrefix(p, "data: ")
		if !ok || strings.Contains(data, "\n") {
			t.Fatalf("not an event: %q", p)
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("event %q: %v", data, err)
		}
		out = append(out, c)
	}
	return out
}

func TestChatStream(t *testing.T) {
	s, _ := serve(t, func(c *Config) { c.StampEvents = true; c.Model = `m"1` })
	before := time.Now().UnixNano()
	r, body := post(t, s.URL+"/v1/chat/completions", `{"model":"m\"1","stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"ignore_eos":true,
		"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"one two"},{"type":"text","text":"three"}]}]}`)
	if ct := r.Header.Get("Content-Type"); r.StatusCode != 200 || !strings.HasPrefix(ct, "text/event-stream") {
		t.Fatalf("%s %s: %s", r.Status, ct, body)
	}
	es := events(t, body)
	if len(es) != 1+7+1 { // role, tokens, usage
		t.Fatalf("%d events: %s", len(es), body)
	}
	if d := es[0].Choices[0].Delta; d.Role == nil || *d.Role != "assistant" || *d.Content != "" {
		t.Errorf("first event %s", body)
	}
	for _, e := range es[1:8] {
		if d := e.Choices[0].Delta; d.Role != nil || *d.Content == "" {
			t.Errorf("content event %+v", e)
		}
		if e.SendNS < before || e.SendNS > time.Now().UnixNano() {
			t.Errorf("send stamp %d", e.SendNS)
		}
	}
	for i, e := range es[:8] {
		if f := e.Choices[0].FinishReason; (f != nil) != (i == 7) || f != nil && *f != "length" {
			t.Errorf("finish of event %d: %+v", i, e)
		}
	}
	// 3 of the prefix, 4 for each of 2 messages, 5 words.
	if u := es[8].Usage; len(es[8].Choices) != 0 || u == nil || u.Prompt != 16 || u.Completion != 7 || u.Total != 23 {
		t.Errorf("usage event %+v", es[8])
	}
	for _, e := range es {
		if e.ID != r.Header.Get("X-Request-Id") || e.Object != "chat.completion.chunk" || e.Model != `m"1` || e.Created == 0 {
			t.Errorf("event %+v", e)
		}
	}
}

func TestCompletionsStream(t *testing.T) {
	s, _ := serve(t)
	for _, prompt := range []string{`"a b c"`, `[1,2,3]`, `["a b c"]`, `[[1,2,3]]`} {
		_, body := post(t, s.URL+"/v1/completions", `{"model":"mock","stream":true,"stream_options":{"include_usage":true},"prompt":`+prompt+`,"ignore_eos":true}`)
		es := events(t, body)
		if len(es) != 16+1 { // max_tokens is 16 unless asked for
			t.Fatalf("prompt %s: %d events: %s", prompt, len(es), body)
		}
		if es[0].Object != "text_completion" || *es[0].Choices[0].Text == "" || *es[15].Choices[0].FinishReason != "length" {
			t.Errorf("prompt %s: %s", prompt, body)
		}
		if u := es[16].Usage; u.Prompt != 3 || u.Completion != 16 {
			t.Errorf("prompt %s: usage %+v", prompt, u)
		}
	}
}

func TestWholeAnswers(t *testing.T) {
	s, h := serve(t)
	var c chunk
	_, body := post(t, s.URL+"/v1/chat/completions", `{"model":"mock","messages":[{"role":"user","content":"hi"}]}`)
	if err := json.Unmarshal([]byte(body), &c); err != nil {
		t.Fatal(err)
	}
	// The law's median of 5 without spread, so the answer stops by itself; its
	// last token has no text.
	if ch := c.Choices[0]; c.Object != "chat.completion" || len(strings.Fields(ch.Message.Content)) != 4 || *ch.FinishReason != "stop" || c.Usage.Completion != 5 {
		t.Errorf("chat: %s", body)
	}
	c = chunk{}
	_, body = post(t, s.URL+"/v1/completions", `{"model":"mock","prompt":"hi","max_tokens":3}`)
	if err := json.Unmarshal([]byte(body), &c); err != nil {
		t.Fatal(err)
	}
	if ch := c.Choices[0]; c.Object != "text_completion" || len(strings.Fields(*ch.Text)) != 3 || *ch.FinishReason != "length" || c.Usage.Prompt != 1 {
		t.Errorf("completions: %s", body)
	}
	if l := h.Lateness(); l.Step.N != 8 || l.Write.N != 2 || l.Step.MaxUS < l.Step.P99US || l.Step.P99US < l.Step.P50US {
		t.Errorf("lateness %+v", l)
	}
}

// TestCachedTokens: two chats that share their system message share its blocks.
func TestCachedTokens(t *testing.T) {
	s, _ := serve(t)
	system := strings.Repeat("w ", 93) // with 3 + 4 template tokens: 100, 6 full blocks
	for i, want := range []int{0, 96, 96} {
		_, body := post(t, s.URL+"/v1/chat/completions",
			fmt.Sprintf(`{"model":"mock","messages":[{"role":"system","content":%q},{"role":"user","content":"question %d"}]}`, system, i))
		var c chunk
		if err := json.Unmarshal([]byte(body), &c); err != nil {
			t.Fatal(err)
		}
		if c.Usage.Prompt != 106 || c.Usage.Details.Cached != want {
			t.Errorf("request %d: %+v, want %d cached", i, c.Usage, want)
		}
	}
	_, body := post(t, s.URL+"/v1/chat/completions", fmt.Sprintf(`{"model":"mock","messages":[{"role":"user","content":%q}]}`, system))
	if !strings.Contains(body, `"cached_tokens":0`) {
		t.Errorf("another role must not share blocks: %s", body)
	}
}

func TestRefusals(t *testing.T) {
	s, _ := serve(t, func(c *Config) { c.MaxBody = 4096 })
	chat := "/v1/chat/completions"
	for _, c := range []struct {
		path, body, kind string
		status           int
	}{
		{chat, `{`, "Bad Request", 400},
		{chat, `[]`, "Bad Request", 400},
		{chat, `{"model":"mock"}`, "Bad Request", 400},
		{chat, `{"model":"mock","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, "Bad Request", 400},
		{chat, `{"model":"mock","messages":[{"role":"user","content":"x"}],"n":2}`, "BadRequestError", 400},
		{chat, `{"model":"mock","messages":[{"role":"user","content":"x"}],"max_tokens":0}`, "BadRequestError", 400},
		{chat, `{"model":"mock","messages":[{"role":"user","content":"x"}],"max_tokens":"a"}`, "Bad Request", 400},
		{chat, `{"model":"mock","messages":[{"role":"user","content":"x"}],"max_completion_tokens":2000}`, "BadRequestError", 400},
		{chat, `{"model":"mock","messages":[{"role":"user","content":"x"}],"max_tokens":5,"min_tokens":6}`, "BadRequestError", 400},
		{chat, `{"model":"mock","messages":[{"role":"user","content":"x"}],"stream_options":{"include_usage":true}}`, "BadRequestError", 400},
		{chat, `{"model":"gpt","messages":[{"role":"user","content":"x"}]}`, "NotFoundError", 404},
		{chat, `{"model":"mock","messages":[{"role":"user","content":"` + strings.Repeat("x ", 1100) + `"}]}`, "BadRequestError", 400},
		{chat, `{"model":"` + strings.Repeat("x", 5000) + `"}`, "BadRequestError", 413},
		{"/v1/completions", `{"model":"mock"}`, "BadRequestError", 400},
		{"/v1/completions", `{"model":"mock","prompt":""}`, "BadRequestError", 400},
		{"/v1/completions", `{"model":"mock","prompt":[]}`, "BadRequestError", 400},
		{"/v1/completions", `{"model":"mock","prompt":[-1]}`, "Bad Request", 400},
		{"/v1/completions", `{"model":"mock","prompt":["a","b"]}`, "Bad Request", 400},
		{"/v1/completions", `{"model":"mock","prompt":"  "}`, "BadRequestError", 400},
	} {
		r, body := post(t, s.URL+c.path, c.body)
		checkError(t, fmt.Sprintf("%s %.80s", c.path, c.body), r, body, c.status, c.kind)
	}
	_, body := post(t, s.URL+chat, `{"model":"mock","messages":[{"role":"user","content":"x"}],"max_tokens":2000}`)
	if !strings.Contains(body, "cannot be greater than max_model_len=1024") {
		t.Errorf("not vLLM's words: %s", body)
	}
}

func checkError(t *testing.T, what string, r *http.Response, body string, status int, kind string) {
	t.Helper()
	var e struct {
		Error struct {
			Message, Type string
			Code          int
		}
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Errorf("%s: %v in %q", what, err, body)
	}
	if r.StatusCode != status || e.Error.Code != status || e.Error.Type != kind || e.Error.Message == "" {
		t.Errorf("%s: %d %+v, want %d %s", what, r.StatusCode, e.Error, status, kind)
	}
}

func TestRateLimit(t *testing.T) {
	s, _ := serve(t, func(c *Config) { c.Law.RequestsPerMinute, c.Law.RateBurst = 1, 2 })
	const body = `{"model":"mock","prompt":"hi"}`
	for want := 1; want >= 0; want-- {
		r, _ := post(t, s.URL+"/v1/completions", body)
		if got := r.Header.Get("x-ratelimit-remaining-requests"); r.StatusCode != 200 || got != fmt.Sprint(want) || r.Header.Get("x-ratelimit-limit-requests") != "1" {
			t.Errorf("%s, remaining %s, want %d", r.Status, got, want)
		}
	}
	r, text := post(t, s.URL+"/v1/completions", body)
	checkError(t, "empty bucket", r, text, 429, "RateLimitError")
	if a := r.Header.Get("Retry-After"); a != "60" && a != "59" {
		t.Errorf("Retry-After %q", a)
	}
	if d, err := time.ParseDuration(r.Header.Get("x-ratelimit-reset-requests")); err != nil || d < 100*time.Second {
		t.Errorf("reset %v %v", d, err)
	}
}

func TestKey(t *testing.T) {
	s, _ := serve(t, func(c *Config) { c.APIKey = "k1" })
	for _, c := range []struct {
		path, header string
		status       int
	}{{"/v1/models", "", 401}, {"/v1/models", "Bearer k2", 401}, {"/v1/models", "k1", 401}, {"/v1/models", "Bearer k1", 200}, {"/health", "", 200}} {
		req, _ := http.NewRequest("GET", s.URL+c.path, nil)
		req.Header.Set("Authorization", c.header)
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != c.status {
			t.Errorf("%s with %q: %s", c.path, c.header, r.Status)
		}
		if c.status == 401 {
			checkError(t, c.path, r, string(body), 401, "AuthenticationError")
		}
	}
	law, err := http.Get(s.URL + "/mock/law")
	if err != nil {
		t.Fatal(err)
	}
	defer law.Body.Close()
	body, _ := io.ReadAll(law.Body)
	var cfg Config
	if err := json.Unmarshal(body, &cfg); err != nil || cfg.Law != fastLaw() || bytes.Contains(body, []byte("k1")) {
		t.Errorf("/mock/law: %v %s", err, body)
	}
}

func TestStartAndClose(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, testConfig())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/health": "", "/version": "reprise-mock", "/v1/models": `"max_model_len":1024`, "/mock/lateness": `"wait"`} {
		r, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != 200 || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s %s", path, r.Status, body)
		}
	}
	cancel()
	<-s.Done()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(s.URL() + "/health"); err == nil {
		t.Error("still serves")
	}
	bad := testConfig()
	bad.Counter = nil
	if _, err := Start(t.Context(), bad); err == nil {
		t.Error("no counter: accepted")
	}
}
