package mock

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vllmDir holds what a real server answered, one case a file.
const vllmDir = "../../testdata/vectors/vllm-0.32"

// recorded is a request to the real server and its answer. The answer to
// /metrics is kept as the families' series without their values.
type recorded struct {
	Request struct {
		Method string `json:"method"`
		Path   string `json:"path"`
		Body   string `json:"body,omitempty"`
	} `json:"request"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// vllmAsk are the requests: name, method, path, body.
func vllmAsk() [][4]string {
	ids := strings.TrimSuffix(strings.Repeat("7,", 4200), ",")
	const one = `{"model":"tiny","temperature":0,"messages":[{"role":"user","content":"one two three"}]`
	const text = `{"model":"tiny","temperature":0,"prompt":"one two three"`
	const tokens = `{"model":"tiny","temperature":0,"prompt":[11,12,13,14,15]`
	get := func(name, path string) [4]string { return [4]string{name, "GET", path, ""} }
	chat := func(name, body string) [4]string { return [4]string{name, "POST", "/v1/chat/completions", body} }
	comp := func(name, body string) [4]string { return [4]string{name, "POST", "/v1/completions", body} }
	tok := func(name, body string) [4]string { return [4]string{name, "POST", "/tokenize", body} }
	return [][4]string{
		get("models", "/v1/models"), get("health", "/health"), get("version", "/version"), get("metrics", "/metrics"),
		get("ping", "/ping"), get("unknown-path", "/v1/nothing"), get("wrong-method-chat", "/v1/chat/completions"),
		{"wrong-method-models", "POST", "/v1/models", "{}"}, {"wrong-method-health", "DELETE", "/health", ""}, {"head-health", "HEAD", "/health", ""},
		tok("tokenize-prompt", `{"model":"tiny","prompt":"one two three"}`),
		tok("tokenize-messages", `{"model":"tiny","messages":[{"role":"user","content":"one two three"}]}`),
		tok("tokenize-empty", `{}`), tok("tokenize-unknown-model", `{"model":"other","prompt":"a"}`),
		chat("chat", one+`,"max_tokens":4,"ignore_eos":true}`),
		chat("chat-one-token", one+`,"max_tokens":1,"ignore_eos":true}`),
		chat("chat-max-completion-tokens", one+`,"max_completion_tokens":3,"ignore_eos":true}`),
		chat("chat-stream", one+`,"stream":true,"max_tokens":4,"ignore_eos":true}`),
		chat("chat-stream-one-token", one+`,"stream":true,"max_tokens":1,"ignore_eos":true}`),
		chat("chat-stream-usage", one+`,"stream":true,"stream_options":{"include_usage":true},"max_tokens":4,"ignore_eos":true}`),
		chat("chat-stream-continuous", one+`,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"max_tokens":3,"ignore_eos":true}`),
		chat("chat-stream-continuous-alone", one+`,"stream":true,"stream_options":{"continuous_usage_stats":true},"max_tokens":3,"ignore_eos":true}`),
		chat("chat-text-parts", `{"model":"tiny","temperature":0,"max_tokens":2,"ignore_eos":true,"messages":[{"role":"user","content":[{"type":"text","text":"one two"}]}]}`),
		chat("chat-n2", one+`,"n":2,"max_tokens":2,"ignore_eos":true,"temperature":1,"seed":1}`),
		chat("chat-stream-n2", one+`,"stream":true,"n":2,"max_tokens":2,"ignore_eos":true,"temperature":1,"seed":1}`),
		chat("chat-eos", one+`,"max_tokens":40,"logit_bias":{"2":100}}`),
		chat("chat-stream-eos", one+`,"stream":true,"max_tokens":40,"min_tokens":3,"logit_bias":{"2":100}}`),
		comp("text", text+`,"max_tokens":4,"ignore_eos":true}`),
		comp("text-default-max-tokens", text+`,"ignore_eos":true}`),
		comp("text-tokens", tokens+`,"max_tokens":4,"ignore_eos":true}`),
		comp("text-list-of-one", `{"model":"tiny","temperature":0,"max_tokens":2,"ignore_eos":true,"prompt":["one two"]}`),
		comp("text-two-prompts", `{"model":"tiny","temperature":0,"max_tokens":2,"ignore_eos":true,"prompt":["one two","three"]}`),
		comp("text-echo-off", text+`,"echo":false,"max_tokens":2,"ignore_eos":true}`),
		comp("text-n2", text+`,"n":2,"max_tokens":2,"ignore_eos":true,"temperature":1,"seed":1}`),
		comp("text-eos", text+`,"max_tokens":40,"logit_bias":{"2":100}}`),
		comp("text-stop", text+`,"max_tokens":40,"stop":["a"],"ignore_eos":true}`),
		comp("text-stream", text+`,"stream":true,"max_tokens":4,"ignore_eos":true}`),
		comp("text-stream-usage", tokens+`,"stream":true,"stream_options":{"include_usage":true},"max_tokens":4,"ignore_eos":true}`),
		comp("text-stream-continuous", tokens+`,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"max_tokens":3,"ignore_eos":true}`),
		comp("text-stream-eos", tokens+`,"stream":true,"max_tokens":40,"min_tokens":3,"logit_bias":{"2":100}}`),
		chat("bad-json", `{"model":"tiny",`), chat("bad-json-array", `[]`), chat("bad-empty-body", ``),
		chat("bad-no-messages", `{"model":"tiny"}`), chat("bad-empty-messages", `{"model":"tiny","messages":[]}`),
		chat("bad-messages-type", `{"model":"tiny","messages":"hi"}`), chat("bad-content-type", `{"model":"tiny","messages":[{"role":"user","content":7}]}`),
		chat("bad-model", `{"model":"other","messages":[{"role":"user","content":"a"}]}`),
		chat("bad-no-model", `{"max_tokens":1,"ignore_eos":true,"messages":[{"role":"user","content":"a"}]}`),
		chat("bad-max-tokens-type", one+`,"max_tokens":"many"}`), chat("bad-max-tokens-negative", one+`,"max_tokens":-1}`),
		chat("bad-max-tokens-zero", one+`,"max_tokens":0}`), chat("bad-min-tokens", one+`,"max_tokens":2,"min_tokens":5}`),
		chat("bad-min-tokens-negative", one+`,"min_tokens":-1}`),
		chat("bad-temperature", one+`,"temperature":-1}`), chat("bad-temperature-high", one+`,"temperature":3,"max_tokens":1,"ignore_eos":true}`),
		chat("bad-top-p", one+`,"top_p":2}`), chat("bad-n-zero", one+`,"n":0}`), chat("bad-n-large", one+`,"n":100000}`),
		chat("bad-stream-options", one+`,"stream_options":{"include_usage":true}}`), chat("bad-stream-type", one+`,"stream":"maybe"}`),
		chat("unknown-field", one+`,"no_such_field":1,"max_tokens":1,"ignore_eos":true}`),
		chat("max-tokens-too-large", one+`,"max_tokens":5000}`),
		comp("max-tokens-too-large-text", tokens+`,"max_tokens":5000}`),
		comp("max-tokens-beyond", tokens+`,"max_tokens":4095}`),
		comp("prompt-too-long", `{"model":"tiny","prompt":[`+ids+`],"max_tokens":1}`),
		comp("bad-no-prompt", `{"model":"tiny"}`), comp("bad-prompt-empty", `{"model":"tiny","prompt":"","max_tokens":1}`),
		comp("bad-prompt-empty-list", `{"model":"tiny","prompt":[],"max_tokens":1}`), comp("bad-prompt-type", `{"model":"tiny","prompt":7}`),
		comp("bad-token-negative", `{"model":"tiny","prompt":[1,-5],"max_tokens":1}`), comp("bad-token-large", `{"model":"tiny","prompt":[1,99999999],"max_tokens":1}`),
		comp("bad-model-text", `{"model":"other","prompt":"a"}`), comp("bad-max-tokens-negative-text", text+`,"max_tokens":-1}`),
	}
}

// TestRecordVLLM asks a running server, by its address in VLLM_URL, and writes
// the cases anew.
func TestRecordVLLM(t *testing.T) {
	url := os.Getenv("VLLM_URL")
	if url == "" {
		t.Skip("VLLM_URL names no server to record")
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	for _, a := range vllmAsk() {
		var c recorded
		c.Request.Method, c.Request.Path, c.Request.Body = a[1], a[2], a[3]
		askVLLM(t, client, url, &c)
		for range 5 { // a busy server joins tokens in an event: keep the most
			again := c
			if strings.Contains(c.Request.Body, `"stream":true`) && c.Status == http.StatusOK {
				askVLLM(t, client, url, &again)
			}
			if strings.Count(again.Body, "data:") > strings.Count(c.Body, "data:") {
				c = again
			}
		}
		c.strip()
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(&c); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(vllmDir, a[0]+".json"), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// askVLLM sends a case's request and keeps the answer.
func askVLLM(t *testing.T, client *http.Client, url string, c *recorded) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), c.Request.Method, url+c.Request.Path, strings.NewReader(c.Request.Body))
	if err != nil {
		t.Fatal(err)
	}
	if c.Request.Method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	c.Status, c.Body, c.Headers = answer.StatusCode, string(data), map[string]string{}
	for name := range answer.Header {
		c.Headers[name] = answer.Header.Get(name)
	}
	if answer.TransferEncoding != nil {
		c.Headers["Transfer-Encoding"] = strings.Join(answer.TransferEncoding, ",")
	}
}

// strip takes out what every run has anew, and the values of metrics.
func (c *recorded) strip() {
	for _, name := range []string{"Date", "X-Request-Id", "Content-Length"} {
		if _, ok := c.Headers[name]; ok {
			c.Headers[name] = "*"
		}
	}
	for _, r := range [][2]string{
		{`((?:chatcmpl|cmpl|modelperm)-)[0-9a-f]+`, `${1}0`}, {`("created":)\d+`, `${1}0`}, {`("root":)"[^"]*"`, `${1}"tiny"`},
	} {
		c.Body = regexp.MustCompile(r[0]).ReplaceAllString(c.Body, r[1])
	}
	if c.Request.Path == "/metrics" {
		c.Body = series(c.Body)
	}
}

// series are a metrics page's families of the engine: their TYPE lines, and
// their samples by the names of their labels, the bounds of buckets as they are.
func series(page string) string {
	label := regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
	var out []string
	seen := map[string]bool{}
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		kind, isType := strings.CutPrefix(line, "# TYPE ")
		if isType && strings.HasPrefix(kind, "vllm:") {
			out = append(out, line)
			continue
		}
		if !strings.HasPrefix(line, "vllm:") {
			continue
		}
		name, rest, _ := strings.Cut(line, "{")
		name, _, _ = strings.Cut(name, " ")
		var labels []string
		for _, m := range label.FindAllStringSubmatch(rest, -1) {
			if m[1] == "le" || m[1] == "finished_reason" {
				m[1] += "=" + m[2]
			}
			labels = append(labels, m[1])
		}
		slices.Sort(labels)
		if s := name + "{" + strings.Join(labels, ",") + "}"; !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n") + "\n"
}
