package openai

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What a server echoes of our headers is in no result.
func TestEchoedSecrets(t *testing.T) { eachEngine(t, testEchoedSecrets) }

func testEchoedSecrets(t *testing.T, engine string) {
	url := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "for "+r.Header.Get("X-Tenant"))
		flushed(hello, finish, done)(w, r)
	})
	c := client(t, url, by(engine, func(c *Config) { c.Headers = http.Header{"X-Tenant": {"acme"}} }))
	if r := sendCtx(t.Context(), t, c); r.ServerRequestID != "for ***" {
		t.Errorf("the request's id is %q", r.ServerRequestID)
	}
	url = start(t, flushed(strings.Replace(hello, `{"choices"`, `{"id":"acme-1","choices"`, 1), finish, done))
	c = client(t, url, by(engine, func(c *Config) { c.Headers = http.Header{"X-Tenant": {"acme"}} }))
	if r := sendCtx(t.Context(), t, c); r.ServerRequestID != "***-1" {
		t.Errorf("the answer's id is %q", r.ServerRequestID)
	}
}

// A redirect of what is asked beside the run takes no header along.
func TestSideStays(t *testing.T) {
	came := make(chan http.Header, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { came <- r.Header }))
	defer other.Close()
	url := start(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect)
	})
	c := client(t, url, func(c *Config) { c.Headers = http.Header{"Api-Key": {"secret"}} })
	side, header := c.Side()
	defer side.CloseIdleConnections()
	r, err := http.NewRequest(http.MethodGet, c.Beside("/metrics"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	resp, err := side.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	select {
	case h := <-came:
		t.Errorf("another host got %v", h)
	default:
	}
	if resp.StatusCode != http.StatusTemporaryRedirect {
		t.Error(resp.Status)
	}
}
