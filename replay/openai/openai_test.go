package openai

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/replay"
	"reprise/trace"
)

// words is a Prompter whose tokens are words.
type words struct{}

func (words) AppendPrompt(dst []byte, job *replay.Job, template int32) ([]byte, int32) {
	n := max(job.Request.Input.Or(1)-max(template, 0), 1)
	return append(dst, strings.TrimSpace(strings.Repeat("w ", int(n)))...), n
}

func (words) AppendFresh(dst []byte, key int64, n int) []byte {
	return append(dst, strings.TrimSpace(strings.Repeat(fmt.Sprintf("k%d ", key), n))...)
}

func start(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func client(t *testing.T, url string, with func(*Config)) *Client {
	t.Helper()
	cfg := Config{URL: url, Model: "m", Prompter: words{}}
	if with != nil {
		with(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func job(in, out int32) replay.Job {
	return replay.Job{Request: trace.Request{Input: some(in), Output: some(out), N: 1}}
}

// engines are both ways to send.
var engines = []string{EngineRaw, EngineNet}

// by chooses an engine beside what else a test wants.
func by(engine string, with func(*Config)) func(*Config) {
	return func(c *Config) {
		c.Wire.Engine = engine
		if with != nil {
			with(c)
		}
	}
}

// eachEngine runs a test by both.
func eachEngine(t *testing.T, test func(t *testing.T, engine string)) {
	for _, e := range engines {
		t.Run(e, func(t *testing.T) { test(t, e) })
	}
}

// send sends one request at url.
func send(t *testing.T, url string, with func(*Config)) replay.Result {
	t.Helper()
	return sendCtx(t.Context(), t, client(t, url, with))
}

func sendCtx(ctx context.Context, t *testing.T, c *Client) replay.Result {
	t.Helper()
	call, err := c.Prepare(job(10, 4))
	if err != nil {
		t.Fatal(err)
	}
	return call.Send(ctx, replay.NewFlight(replay.NewTimer(time.Now())))
}

// Pieces of streams.
const (
	role   = `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	hello  = `data: {"choices":[{"delta":{"content":"hello"}}]}` + "\n\n"
	world  = `data: {"choices":[{"delta":{"content":" world"}}]}` + "\n\n"
	think  = `data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}` + "\n\n"
	toolUp = `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}` + "\n\n"
	finish = `data: {"choices":[{"delta":{},"finish_reason":"length"}]}` + "\n\n"
	used   = `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":8}}}` + "\n\n"
	done   = "data: [DONE]\n\n"
	broken = `data: {"error":{"message":"engine died"}}` + "\n\n"
)

// flushed writes each piece by itself, so that it comes in a read of its own
// where a pause lies between.
func flushed(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			io.WriteString(w, p)
			w.(http.Flusher).Flush()
		}
	}
}

// pings writes the pieces and then comments until the client has had enough.
func pings(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		flushed(pieces...)(w, r)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
				flushed(": ping\n\n")(w, r)
			}
		}
	}
}

// raw answers with exact bytes and then closes, by reset if asked, once it has
// waited.
func raw(answer string, reset bool, wait ...func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(conn, answer)
		for _, f := range wait {
			f()
		}
		if reset {
			conn.(*net.TCPConn).SetLinger(0)
		}
		conn.Close()
	}
}

// keptOpen is what holds a connection until the test is over.
func keptOpen(t *testing.T) func() {
	return func() { <-t.Context().Done() }
}

// endless answers with a start and then the same for as long as it is read.
func endless(start, more string) http.HandlerFunc {
	piece := strings.Repeat(more, 1<<20/len(more))
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		_, err := io.WriteString(w, start)
		for err == nil {
			_, err = io.WriteString(w, piece)
		}
	}
}

func chunked(pieces ...string) string {
	out := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, p := range pieces {
		out += fmt.Sprintf("%x\r\n%s\r\n", len(p), p)
	}
	return out
}

const chunkedEnd = "0\r\n\r\n"

func hang(pieces ...string) http.HandlerFunc {
	write := flushed(pieces...)
	return func(w http.ResponseWriter, r *http.Request) {
		write(w, r)
		<-r.Context().Done()
	}
}

func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// Every trap of other clients, and every class: one script of a server, one
// outcome.
func TestClasses(t *testing.T) {
	short := func(c *Config) {
		c.FirstToken, c.Idle, c.Total = 150*time.Millisecond, 150*time.Millisecond, 10*time.Second
	}
	hurry := func(c *Config) { c.Total = 150 * time.Millisecond }
	for _, c := range []struct {
		name   string
		server http.HandlerFunc
		with   func(*Config)
		class  replay.Class
		events int32
		reason string
	}{
		{"plain", flushed(role, hello, world, finish, used, done), nil, replay.OK, 2, ""},
		{"ping as its own chunk", flushed(": ping\n\n", role, hello, ": ping\n\n", finish, done), nil, replay.OK, 1, ""},
		{"chunk ends after data:", flushed(role, "data: ", hello[6:], "data:", used[5:], finish, done), nil, replay.OK, 1, ""},
		{"no space after data:", flushed("data:" + hello[6:] + "data:" + finish[6:] + "data:[DONE]\n\n"), nil, replay.OK, 1, ""},
		{"CRLF", flushed(strings.ReplaceAll(role+hello+finish+done, "\n", "\r\n")), nil, replay.OK, 1, ""},
		{"UTF-8 cut in a character", flushed(role, "data: {\"choices\":[{\"delta\":{\"content\":\"h\xc3", "\xa9\"}}]}\n\n", finish, done), nil, replay.OK, 1, ""},
		{"error after a token", flushed(role, hello, broken, done), nil, replay.StreamError, 1, "engine died"},
		{"error only", flushed(broken, done), nil, replay.StreamError, 0, "engine died"},
		{"error event by name", flushed(hello, "event: error\ndata: {\"message\":\"gone\"}\n\n"), nil, replay.StreamError, 1, "gone"},
		{"missing [DONE]", flushed(role, hello, finish), nil, replay.NoDone, 1, "without [DONE]"},
		{"[DONE] without the blank line", flushed(role, hello, finish, "data: [DONE]\n"), nil, replay.OK, 1, ""},
		{"only [DONE]", flushed(done), nil, replay.StreamError, 0, "no choice"},
		{"empty finish event is no token", flushed(role, hello, world, `data: {"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}`+"\n\n", done), nil, replay.OK, 2, ""},
		{"several tokens in a chunk", flushed(role, `data: {"choices":[{"delta":{"content":"a b c"}}],"usage":{"completion_tokens":3}}`+"\n\n", finish, done), nil, replay.OK, 1, ""},
		{"tool call", flushed(role, toolUp, finish, done), nil, replay.OK, 1, ""},
		{"not JSON in an event", flushed(hello, "data: {\"choices\":[\n\n", done), nil, replay.StreamError, 1, "not a JSON object"},
		{"body cut inside an event", raw(chunked(role, hello, "data: {\"ch")+chunkedEnd, false), nil, replay.Truncated, 1, "inside an event"},
		{"chunked body cut", raw(chunked(role, hello), false), nil, replay.Truncated, 1, "inside the stream"},
		{"reset inside the stream", raw(chunked(role, hello), true), nil, replay.Truncated, -1, ""},
		{"length longer than the body", raw("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"+hello, false), nil, replay.Truncated, 1, ""},
		{"cut after [DONE]", raw(chunked(role, hello, finish, done), false), nil, replay.OK, 1, ""},
		{"body until close", raw("HTTP/1.0 200 OK\r\n\r\n"+role+hello+finish+done, false), nil, replay.OK, 1, ""},
		{"closed without an answer", raw("", false), nil, replay.Truncated, 0, "before an answer"},
		{"reset without an answer", raw("", true), nil, replay.Truncated, 0, "before an answer"},
		{"not HTTP", raw("SSH-2.0-x\r\n", false), nil, replay.StreamError, 0, "does not speak HTTP"},
		{"finish reason abort", flushed(role, hello, strings.Replace(finish, "length", "abort", 1), used, done), nil, replay.StreamError, 1, "broke the answer off (finish reason cancelled)"},
		{"finish reason error", flushed(role, hello, strings.Replace(finish, "length", "error", 1)), nil, replay.StreamError, 1, "finish reason error"},
		{"JSON answer aborted", status(200, `{"choices":[{"message":{"content":"he"},"finish_reason":"abort"}]}`), nil, replay.StreamError, 0, "broke the answer off"},
		{"error line", flushed(role, hello, "error: {\"code\":500,\"message\":\"boom\"}\n\n", done), nil, replay.StreamError, 1, "in the stream: boom"},
		{"error line first", flushed("error: {\"message\":\"boom\"}\n\n"), nil, replay.StreamError, 0, "boom"},
		{"gzip", status(200, "\x1f\x8b\x08"), nil, replay.StreamError, 0, "compressed (gzip)"},
		{"gzip by its header", status(200, "\x1f\x8b\x08", "Content-Encoding", "gzip"), nil, replay.StreamError, 0, "compressed (gzip)"},
		{"101, and nothing more", func(w http.ResponseWriter, r *http.Request) {
			raw("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc", false, keptOpen(t))(w, r)
		}, nil, replay.StreamError, 0, "HTTP 101 where 200"},
		{"a refusal whose body stalls", func(w http.ResponseWriter, r *http.Request) {
			raw("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 99\r\n\r\nslow down", false, keptOpen(t))(w, r)
		}, short, replay.HTTP429, 0, "HTTP 429: slow down"},
		{"a refusal that is compressed", status(503, "\x1f\x8b\x08\xff", "Content-Encoding", "gzip"), nil, replay.Overload, 0, "compressed"},
		{"key cut by the end of a message", flushed(`data: {"error":{"message":"` + strings.Repeat("a", 190) + ` sk-secret-0123"}}` + "\n\n"), func(c *Config) { c.Key = "sk-secret-0123" }, replay.StreamError, 0, "a ***"},
		{"key of a header", status(401, `{"message":"bad key sk-secret-0123!"}`), func(c *Config) { c.Headers = http.Header{"Authorization": {"Bearer sk-secret-0123"}} }, replay.HTTP4xx, 0, "bad key ***!"},
		{"key of the query", status(401, `{"message":"bad key a/b-c-0123!"}`), func(c *Config) { c.URL += "/v1?key=a%2Fb-c-0123" }, replay.HTTP4xx, 0, "bad key ***!"},
		{"a line without an end", endless("data: ", "x"), nil, replay.StreamError, 0, "larger than 16 MiB"},
		{"an event without an end", endless("", "data: "+strings.Repeat("x", 1<<10)+"\n"), nil, replay.StreamError, 0, "larger than 16 MiB"},
		{"blanks without an end", endless("", " \n"), nil, replay.StreamError, 0, "neither events nor JSON"},
		{"201", status(201, role), nil, replay.StreamError, 0, "HTTP 201 where 200"},
		{"huge header", raw("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 300<<10)+"\r\n\r\n", false), nil, replay.StreamError, 0, "larger than 256 KiB"},
		{"key in an error event", flushed(hello, `data: {"error":{"message":"bad sk-secret"}}`+"\n\n"), func(c *Config) { c.Key = "sk-secret" }, replay.StreamError, 1, "bad ***"},
		{"pings after a token", pings(role, hello), func(c *Config) { c.Idle = 150 * time.Millisecond }, replay.TimeoutIdle, 1, ""},
		{"one JSON answer", status(200, `{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{"completion_tokens":4}}`), nil, replay.OK, 0, ""},
		{"JSON error in a 200", status(200, `{"error":{"message":"bad"}}`), nil, replay.StreamError, 0, "bad"},
		{"HTML", status(200, "<!doctype html><p>hi"), nil, replay.StreamError, 0, "is the URL right?"},
		{"text", status(200, "datum"), nil, replay.StreamError, 0, "neither events nor JSON"},
		{"nothing", status(200, ""), nil, replay.StreamError, 0, "empty"},
		{"429", status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "2"), nil, replay.HTTP429, 0, "slow down"},
		{"503", status(503, ``), nil, replay.Overload, 0, ""},
		{"529", status(529, ``), nil, replay.Overload, 0, ""},
		{"400", status(400, `{"message":"too long"}`), nil, replay.HTTP4xx, 0, "too long"},
		{"401", status(401, `{"detail":"no"}`), nil, replay.HTTP4xx, 0, "HTTP 401: no"},
		{"redirect is not followed", status(307, "", "Location", "http://127.0.0.1:1/"), nil, replay.HTTP4xx, 0, "redirects"},
		{"500 whose text says timed out", status(500, `{"error":{"message":"timed out"}}`), nil, replay.HTTP5xx, 0, "timed out"},
		{"502 by a proxy", status(502, `<html>bad gateway`), nil, replay.HTTP5xx, 0, "HTML"},
		{"no first token", hang(role, ": ping\n\n"), short, replay.TimeoutFirstToken, 0, ""},
		{"no headers", func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() }, short, replay.TimeoutFirstToken, 0, ""},
		{"stall after a token", hang(role, hello), short, replay.TimeoutIdle, 1, ""},
		{"too long in all", hang(role, hello), hurry, replay.TimeoutTotal, 1, ""},
	} {
		each := func(t *testing.T, engine string) {
			t.Parallel()
			var n atomic.Int64
			url := start(t, func(w http.ResponseWriter, r *http.Request) { n.Add(1); c.server(w, r) })
			r := send(t, url, by(engine, c.with))
			if r.Class != c.class || !strings.Contains(r.Reason, c.reason) || (c.class == replay.OK) != (r.Reason == "") {
				t.Fatalf("%v (%s), want %v (%s)", r.Class, r.Reason, c.class, c.reason)
			}
			if c.events >= 0 && r.NEvents != c.events {
				t.Fatalf("%d events with content, want %d", r.NEvents, c.events)
			}
			if n.Load() != 1 {
				t.Fatalf("sent %d times", n.Load())
			}
			checkOrder(t, &r)
		}
		t.Run(c.name, func(t *testing.T) { eachEngine(t, each) })
	}
}

// checkOrder holds what is true of the stamps of any result.
func checkOrder(t *testing.T, r *replay.Result) {
	t.Helper()
	if !r.End.OK {
		t.Fatal("no end")
	}
	last := int64(0)
	if r.HTTP.OK && !r.WriteEnd.OK {
		t.Fatalf("answered, but never written: %+v", r)
	}
	for _, p := range []trace.Opt[int64]{r.WriteEnd, r.FirstByte, r.FirstEvent, r.FirstContent, r.FirstAnswer, r.LastContent, r.End} {
		if p.OK && p.V < last {
			t.Fatalf("stamps out of order: %+v", r)
		}
		last = max(last, p.V)
	}
	if r.WriteEnd.OK && r.ConnReady.V > r.WriteEnd.V {
		t.Fatalf("written before connected: %+v", r)
	}
	if (r.NEvents > 0) != r.FirstContent.OK || len(r.Gaps) != int(max(r.NEvents-1, 0)) || r.NReads > r.NEvents {
		t.Fatalf("%d events in %d reads, %d gaps", r.NEvents, r.NReads, len(r.Gaps))
	}
	sum := int64(0)
	for _, g := range r.Gaps {
		sum += int64(g)
	}
	if r.NEvents > 0 && sum != (r.LastContent.V-r.FirstContent.V)/1000 {
		t.Fatalf("gaps add up to %d µs of %d ns", sum, r.LastContent.V-r.FirstContent.V)
	}
}

func TestFields(t *testing.T) { eachEngine(t, testFields) }

func testFields(t *testing.T, engine string) {
	sent := make(chan string, 1)
	url := start(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent <- r.Header.Get("Authorization") + " " + r.URL.String() + " " + string(b)
		w.Header().Set("X-Request-Id", "r1")
		w.Header().Set("Openai-Processing-Ms", "12")
		flushed(role, think, hello+world, finish, used, done)(w, r)
	})
	c := client(t, url+"/v1?k=v", by(engine, func(c *Config) { c.Key, c.Label = "sk-1", "a" }))
	r := sendCtx(t.Context(), t, c)
	want := `Bearer sk-1 /v1/chat/completions?k=v {"model":"m","messages":[{"role":"user","content":"w w w w w w w w w w"}],"max_tokens":4,` +
		`"temperature":0,"stream":true,"stream_options":{"include_usage":true},"ignore_eos":true,"min_tokens":4}`
	if got := <-sent; got != want {
		t.Fatalf("sent %s", got)
	}
	if r.ServerRequestID != "r1" || r.ServerTime != some[int64](12000) || r.HTTP != some[int16](200) || r.Endpoint != "a" {
		t.Fatalf("%+v", r)
	}
	if r.InAsked.V != 10 || r.InUsage.V != 10 || r.OutAsked.V != 4 || r.OutUsage.V != 4 || r.Cached.V != 8 || r.OutChars.V != 13 {
		t.Fatalf("%+v", r)
	}
	if r.NEvents != 3 || !r.FirstAnswer.OK || r.FirstContent.V > r.FirstAnswer.V || r.Finish != trace.FinishLength {
		t.Fatalf("%+v", r)
	}
	if r.Reused != some(false) || !r.TCP.OK || r.TLS.OK || !r.WriteEnd.OK || !r.FirstByte.OK {
		t.Fatalf("%+v", r)
	}
	// The connection is used again, and then opening one took no time.
	if r = sendCtx(t.Context(), t, c); r.Reused != some(true) || r.TCP.OK {
		t.Fatalf("%+v", r)
	}
}

func TestNobodyListens(t *testing.T) { eachEngine(t, testNobodyListens) }

func testNobodyListens(t *testing.T, engine string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	r := send(t, "http://"+l.Addr().String(), by(engine, nil))
	if r.Class != replay.Connect || !r.Hopeless || !strings.Contains(r.Reason, "connection refused") || r.WriteEnd.OK {
		t.Fatalf("%+v", r)
	}
}

func TestTLS(t *testing.T) { eachEngine(t, testTLS) }

func testTLS(t *testing.T, engine string) {
	s := httptest.NewUnstartedServer(flushed(hello, finish, done))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of each broken handshake
	s.StartTLS()
	defer s.Close()
	if r := send(t, s.URL, by(engine, nil)); r.Class != replay.TLSError || !r.Hopeless || !strings.Contains(r.Reason, "not trusted") {
		t.Fatalf("%+v", r)
	}
	pool := s.Client().Transport.(*http.Transport).TLSClientConfig
	if r := send(t, s.URL, by(engine, func(c *Config) { c.TLS = pool })); r.Class != replay.OK || !r.TLS.OK {
		t.Fatalf("%+v", r)
	}
	plainURL := start(t, flushed(done))
	if r := send(t, strings.Replace(plainURL, "http:", "https:", 1), by(engine, nil)); r.Class != replay.TLSError || !strings.Contains(r.Reason, "http://") {
		t.Fatalf("%+v", r)
	}
}

func TestCancelled(t *testing.T) { eachEngine(t, testCancelled) }

func testCancelled(t *testing.T, engine string) {
	ctx, cancel := context.WithCancel(t.Context())
	url := start(t, func(w http.ResponseWriter, r *http.Request) {
		flushed(role, hello)(w, r)
		cancel()
		<-r.Context().Done()
	})
	if r := sendCtx(ctx, t, client(t, url, by(engine, nil))); r.Class != replay.Cancelled {
		t.Fatalf("%+v", r)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		header http.Header
		want   trace.Opt[int64]
	}{
		{http.Header{}, trace.Opt[int64]{}},
		{http.Header{"Retry-After": {"7"}}, some[int64](7000)},
		{http.Header{"Retry-After": {"1.5"}}, some[int64](1500)},
		{http.Header{"Retry-After": {"-1"}}, trace.Opt[int64]{}},
		{http.Header{"Retry-After": {"soon"}}, trace.Opt[int64]{}},
		{http.Header{"Retry-After": {"Fri, 02 Jan 2026 03:04:15 GMT"}}, some[int64](10000)},
		{http.Header{"Retry-After": {"Fri, 02 Jan 2026 03:04:15 GMT"}, "Date": {"Fri, 02 Jan 2026 03:04:14 GMT"}}, some[int64](1000)},
		{http.Header{"Retry-After": {"Fri, 02 Jan 2026 03:00:00 GMT"}}, some[int64](0)},
		{http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"250"}}, some[int64](250)},
	} {
		if got := retryAfter(c.header, now); got != c.want {
			t.Errorf("%v: %+v", c.header, got)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ url, api, post string }{
		{"http://h:8000", "", "http://h:8000/v1/chat/completions"},
		{"http://h:8000/", Completions, "http://h:8000/v1/completions"},
		{"http://h/v1/", "", "http://h/v1/chat/completions"},
		{"https://h/api/v3", "", "https://h/api/v3/chat/completions"},
		{"https://h/serve/llama", "", "https://h/serve/llama/v1/chat/completions"},
		{"https://h/x/chat/completions?api-version=1", "", "https://h/x/chat/completions?api-version=1"},
		{"https://h/v1/completions", "", "https://h/v1/completions"},
		{"https://h/v1beta", Chat, "https://h/v1beta/chat/completions"},
	} {
		if got, err := resolve(c.url, c.api); err != nil || got.post.String() != c.post {
			t.Errorf("%s: %v %v", c.url, got.post, err)
		}
	}
	for url, want := range map[string]string{
		"localhost:8000": "no scheme", "ftp://h": "want http", "http://": "no host", "http://a:b@h": "environment",
		"http://h/v1/completions": "asked for", "http://h\x7f": "does not parse", "http://h/v1?a=b c": "space",
	} {
		if _, err := resolve(url, Chat); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func countDials(n *atomic.Int64) dialFunc {
	d := &net.Dialer{Control: askStamps}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		n.Add(1)
		return d.DialContext(ctx, network, addr)
	}
}
