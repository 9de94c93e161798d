package openai

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"reprise/replay"
)

// An answer that says nothing is no success, whatever the server counts.
func TestAnswerWithoutContent(t *testing.T) {
	usage := func(n int) string {
		return fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":%d}}`+"\n\n", n)
	}
	end := func(why string) string {
		return `data: {"choices":[{"delta":{},"finish_reason":"` + why + `"}]}` + "\n\n"
	}
	whole := `{"choices":[{"message":{"content":"%s","tool_calls":%s},"finish_reason":"stop"}],"usage":{"completion_tokens":%d}}`
	for _, c := range []struct {
		body   string
		asked  int32
		reason string // empty: a success
	}{
		{role + end("length") + usage(20) + done, 20, "though the server counts 20 tokens (finish reason length)"},
		{role + end("length") + done, 20, "(finish reason length), and 20 tokens were asked for"},
		{role + done, 20, "and 20 tokens were asked for"},
		{role + end("stop") + usage(0) + done, 20, "the model ended the answer at once"},
		{role + end("stop") + usage(1) + done, 20, "the model ended the answer at once"},
		{role + end("content_filter") + usage(0) + done, 20, "(finish reason content_filter)"},
		{fmt.Sprintf(whole, "", "null", 20), 20, "the server counts 20 tokens"},
		{fmt.Sprintf(whole, "", "null", 0), 20, "the model ended the answer at once"},
		// One token may show nothing: the end, or the mark before the reasoning.
		{role + end("length") + usage(1) + done, 1, ""},
		{role + end("stop") + done, 1, ""},
		{role + end("length") + usage(7) + done, 1, "the server counts 7 tokens"},
		{role + think + end("length") + usage(20) + done, 20, ""},
		{role + hello + end("stop") + usage(1) + done, 20, ""},
		{fmt.Sprintf(whole, "hi", "null", 1), 20, ""},
		{fmt.Sprintf(whole, "", `[{"id":"c","function":{"name":"","arguments":""}}]`, 1), 20, ""},
	} {
		eachEngine(t, func(t *testing.T, engine string) {
			url := start(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, c.body) })
			r := sendOf(t, client(t, url, by(engine, nil)), 10, c.asked)
			if c.reason == "" && r.Class != replay.OK {
				t.Errorf("%s: %v %s", c.body, r.Class, r.Reason)
			}
			if c.reason != "" && (r.Class != replay.StreamError || !strings.Contains(r.Reason, c.reason)) {
				t.Errorf("%s: %v %q, want %q", c.body, r.Class, r.Reason, c.reason)
			}
		})
	}
}

// A request in the clear to a port that speaks TLS is told so, with the model named
// and without.
func TestPlainAtTLSPort(t *testing.T) {
	nginx := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		io.WriteString(w, "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>")
	}))
	defer nginx.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for _, url := range []string{nginx.URL, strings.Replace(secure.URL, "https:", "http:", 1)} {
		for _, model := range []string{"", "m"} {
			eachEngine(t, func(t *testing.T, engine string) {
				c := client(t, url, by(engine, func(c *Config) { c.Model, c.MaxWarming = model, 10*time.Second }))
				if _, err := c.Preflight(t.Context()); err == nil || !strings.Contains(err.Error(), "speaks TLS at this port") {
					t.Errorf("%s, model %q: %v", url, model, err)
				}
			})
		}
	}
}
