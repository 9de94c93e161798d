package mock

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"reprise/replay/mock/engine"
	"reprise/replay/mock/wire"
)

// startMock is a listening server that ends with the test.
func startMock(t testing.TB, change ...func(*Config)) *Server {
	t.Helper()
	s, err := Start(t.Context(), testConfig(change...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func dial(t testing.TB, s *Server) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, bufio.NewReader(c)
}

// completion is a raw request.
func completion(body string, more ...string) string {
	head := strings.Join(append([]string{"POST /v1/completions HTTP/1.1", "Host: x", fmt.Sprintf("Content-Length: %d", len(body))}, more...), "\r\n")
	return head + "\r\n\r\n" + body
}

// exchange sends raw bytes and reads one response.
func exchange(t testing.TB, s *Server, raw string) (*http.Response, string) {
	t.Helper()
	c, r := dial(t, s)
	defer c.Close()
	if _, err := io.WriteString(c, raw); err != nil {
		t.Fatal(err)
	}
	return receive(t, r, raw)
}

func receive(t testing.TB, r *bufio.Reader, raw string) (*http.Response, string) {
	t.Helper()
	method, _, _ := strings.Cut(raw, " ")
	resp, err := http.ReadResponse(r, &http.Request{Method: method})
	if err == nil && resp.StatusCode == http.StatusContinue {
		resp, err = http.ReadResponse(r, &http.Request{Method: method})
	}
	if err != nil {
		t.Fatalf("%.60q: %v", raw, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%.60q: %v", raw, err)
	}
	return resp, string(body)
}

// variable matches what two servers cannot have in common.
var variable = regexp.MustCompile(`"created":\d+|"listen":"[^"]*"|"net_http":(true|false)|_created\{.*`)

// TestWireLikeNetHTTP: both servers give the same answers.
func TestWireLikeNetHTTP(t *testing.T) {
	limits := func(c *Config) { c.MaxBody, c.APIKey, c.Law.RequestsPerMinute = 3000, "k", 60 }
	own := startMock(t, limits)
	ref := startMock(t, limits, func(c *Config) { c.NetHTTP = true })
	const key = "Authorization: Bearer k"
	chunked := "POST /v1/completions HTTP/1.1\r\nHost: x\r\n" + key + "\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, raw := range []string{
		"GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
		"HEAD /version HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /version HTTP/1.0\r\n\r\n",
		"GET /version?a=b HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /%76ersion HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://x/version HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /mock/law HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /mock/lateness/reset HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
		"PUT /version HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /v1/completions HTTP/1.1\r\nHost: x\r\n" + key + "\r\n\r\n",
		"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /v1/models HTTP/1.1\r\nHost: x\r\nauthorization:  Bearer k \r\n\r\n",
		completion(`{}`),
		completion(`{"model":"other"}`, key),
		completion(`{`, key),
		completion(`{"model":"mock","prompt":"a b"}`, key),
		completion(ask20, key),
		completion(ask20, key, "Connection: close"),
		completion(ask20, key, "Expect: 100-continue"),
		completion(`{"model":"mock","prompt":"`+strings.Repeat("a ", 1000)+`","max_tokens":3}`, key),
		completion(strings.Repeat("x", 4000), key),
		strings.Replace(completion(ask20, key), "HTTP/1.1", "HTTP/1.0", 1),
		chunked + "5;a=b\r\n{\"mod\r\n1A\r\nel\":\"mock\",\"prompt\":\"a b\"}\r\n0\r\nT: x\r\n\r\n",
		chunked + "fff\r\n" + strings.Repeat("x", 4095) + "\r\n0\r\n\r\n",
		strings.Replace(completion(`{"model":"mock","messages":[{"role":"user","content":"hi"}],"stream":true}`, key), "/v1/completions", "/v1/chat/completions", 1),
	} {
		got, body := exchange(t, own, raw)
		want, wantBody := exchange(t, ref, raw)
		body, wantBody = variable.ReplaceAllString(body, ""), variable.ReplaceAllString(wantBody, "")
		if got.StatusCode != want.StatusCode || body != wantBody {
			t.Errorf("%.90q:\n %s %s\nwant\n %s %s", raw, got.Status, body, want.Status, wantBody)
		}
		for _, r := range []*http.Response{got, want} {
			for _, h := range []string{"Date", "Connection", "X-Ratelimit-Reset-Requests"} { // of the moment, or free to choose
				r.Header.Del(h)
			}
			if strings.Contains(raw, "/mock/law") || strings.Contains(raw, "/metrics") { // they say which server it is, and since when
				r.Header.Del("Content-Length")
			}
		}
		if fmt.Sprint(got.Header) != fmt.Sprint(want.Header) || !slices.Equal(got.TransferEncoding, want.TransferEncoding) {
			t.Errorf("%.90q: headers %v %v, want %v %v", raw, got.Header, got.TransferEncoding, want.Header, want.TransferEncoding)
		}
	}
}

// TestWireRefusals: what is no request of ours is refused by RFC 9110's status,
// and the connection ends.
func TestWireRefusals(t *testing.T) {
	s := startMock(t)
	for raw, want := range map[string]int{
		"GET /health\r\n\r\n":                                                                                                       400,
		"GET /health HTTP/1.1\n\n":                                                                                                  400,
		"GET  /health HTTP/1.1\r\nHost: x\r\n\r\n":                                                                                  400,
		"GET /health HTTP/1.1\r\n\r\n":                                                                                              400,
		"GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n":                                                                        400,
		"GET /health HTTP/1.1\r\nHost : x\r\n\r\n":                                                                                  400,
		"GET /health HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n":                                                                        400,
		"GET /health HTTP/1.1\r\nHost: x\x00\r\n\r\n":                                                                               400,
		"GET /health HTTP/2.0\r\nHost: x\r\n\r\n":                                                                                   505,
		"GET /" + strings.Repeat("a", wire.MaxLine) + " HTTP/1.1\r\nHost: x\r\n\r\n":                                                414,
		"GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", wire.MaxHead) + "\r\n\r\n":                                         431,
		"GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", wire.MaxFields+1) + "\r\n":                                     431,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab":                              400,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n":                                                    400,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n":                                  400,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":              400,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n":                                               501,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n":                                                          417,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n":                                      400,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n":                                400,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1", wire.MaxChunkLine+1): 400,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " + fmt.Sprint(65<<20) + "\r\n\r\n":    413,
	} {
		c, r := dial(t, s)
		if _, err := io.WriteString(c, raw); err != nil {
			t.Fatal(err)
		}
		resp, _ := receive(t, r, raw)
		if resp.StatusCode != want || !resp.Close {
			t.Errorf("%.80q: %s, close %v, want %d", raw, resp.Status, resp.Close, want)
		}
		if _, err := r.ReadByte(); err != io.EOF {
			t.Errorf("%.80q: the connection goes on: %v", raw, err)
		}
	}
}

// TestWireKeepAlive: one connection serves many requests, also when they come
// before their turn or byte by byte.
func TestWireKeepAlive(t *testing.T) {
	s := startMock(t, func(c *Config) { c.Record = true })
	c, r := dial(t, s)
	raw := completion(ask20)
	whole := completion(`{"model":"mock","prompt":"a b"}`)
	send := func(parts ...string) {
		for _, p := range parts {
			if _, err := io.WriteString(c, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(raw)
	_, first := receive(t, r, raw)
	send(raw, "GET /version HTTP/1.1\r\nHost: x\r\n\r\n\r\n"+whole)
	_, second := receive(t, r, raw)
	if a, b := len(events(t, first)), len(events(t, second)); a != 20 || b != 20 {
		t.Errorf("%d and %d events", a, b)
	}
	if _, v := receive(t, r, "GET"); !strings.Contains(v, "reprise-mock") {
		t.Errorf("version: %s", v)
	}
	if _, w := receive(t, r, whole); !strings.Contains(w, `"usage"`) {
		t.Errorf("whole: %s", w)
	}
	send(strings.Split(raw, "")...)
	receive(t, r, raw)
	list, err := s.Arrivals()
	if err != nil || len(list) != 4 {
		t.Fatalf("%+v %v", list, err)
	}
	// One that came before its turn arrives when that comes: with the server late,
	// after the time of bytes behind it.
	slices.SortFunc(list, func(a, b Arrival) int { return a.Reused - b.Reused })
	for i, reused := range []int{0, 1, 3, 4} {
		if a := list[i]; a.Conn != 1 || a.Reused != reused || a.HeadBytes != strings.Index(raw, "\r\n\r\n")+4 && i != 2 || !slices.Equal(a.Headers, []string{"Host", "Content-Length"}) {
			t.Errorf("arrival %d: %+v", i, a)
		}
	}
}

// TestWireManyStreams: 2,000 streams at once, each whole; fewer where the process
// may not have as many files open, as both ends of a stream are its own.
func TestWireManyStreams(t *testing.T) {
	const most, fewest, others = 2000, 100, 32 // streams, and files that come and go beside them
	n := (spareFiles(2*most+others) - others) / 2
	if n < fewest {
		t.Skipf("this process may open %d streams more, and %d are few: raise ulimit -n", max(n, 0), fewest)
	}
	t.Logf("%d streams", n)
	law := plain()
	law.Plain = &engine.Plain{TTFT: 300e3, ITL: 20e3}
	s := startMock(t, func(c *Config) { c.Law = law })
	raw := completion(`{"model":"mock","prompt":[1,2],"stream":true,"max_tokens":5,"ignore_eos":true}`)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			c, err := net.Dial("tcp", s.listener.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if _, err := io.WriteString(c, raw); err != nil {
				t.Error(err)
				return
			}
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Error(err)
				return
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || bytes.Count(body, []byte("data: ")) != 6 || !bytes.HasSuffix(body, []byte("data: [DONE]\n\n")) {
				t.Errorf("%v %s", err, body)
			}
		})
	}
	wg.Wait()
	if l := s.Lateness(); l.Write.N != int64(5*n) {
		t.Errorf("lateness %+v", l)
	}
}

// TestWireSlowReader: a client that does not read gets all of it in the end,
// and its neighbour does not wait for that.
func TestWireSlowReader(t *testing.T) {
	law := plain()
	law.Plain, law.MaxModelLen = &engine.Plain{}, 1<<20 // no time between tokens: all of the first answer is put before any of the second
	s := startMock(t, func(c *Config) { c.Law = law })
	slow, r := dial(t, s)
	if err := slow.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	const n = 60000 // 12 MB, more than the socket buffers
	raw := completion(fmt.Sprintf(`{"model":"mock","prompt":[1],"stream":true,"max_tokens":%d,"ignore_eos":true}`, n))
	if _, err := io.WriteString(slow, raw); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Peek(1); err != nil { // it is in the engine
		t.Fatal(err)
	}
	_, quick := exchange(t, s, completion(ask20))
	if len(events(t, quick)) != 20 {
		t.Errorf("the neighbour got %q", quick)
	}
	front := s.front.(*wireFront)
	front.mu.Lock()
	waiting := 0
	for c := range front.conns {
		if c.out.Waiting() {
			waiting++
		}
	}
	front.mu.Unlock()
	if waiting != 1 {
		t.Errorf("%d connections have bytes waiting, want the slow one", waiting)
	}
	_, body := receive(t, r, raw)
	if got := len(events(t, body)); got != n {
		t.Errorf("the slow client got %d events, want %d", got, n)
	}
	if l := s.Lateness(); l.Write.N != n+20 {
		t.Errorf("%d writes counted", l.Write.N)
	}
}

// await asks until a condition holds; the test's deadline is the only limit.
func await(t testing.TB, h *Handler, what string, f func(engine.Stats) bool) {
	t.Helper()
	for {
		s, err := h.driver.Snapshot()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if f(s) {
			return
		}
		runtime.Gosched()
	}
}

// TestWireHangUp: clients that leave free what they held, whether they wait,
// are answered or have asked for the next thing already.
func TestWireHangUp(t *testing.T) {
	s := startMock(t, func(c *Config) { c.Law.MaxModelLen, c.Law.Blocks, c.Law.MaxSeqs = 1<<20, 1<<16, 2; c.Record = true })
	for i, stream := range []string{"true", "false", "true", "true"} {
		raw := completion(fmt.Sprintf(`{"model":"mock","prompt":"a b","max_tokens":1000000,"ignore_eos":true,"stream":%s}`, stream))
		if i == 3 {
			raw += raw
		}
		c, _ := dial(t, s)
		if _, err := io.WriteString(c, raw); err != nil {
			t.Fatal(err)
		}
		await(t, s.handler, "arrival", func(s engine.Stats) bool { return s.Running+s.Waiting == 1 })
		c.Close()
		await(t, s.handler, "departure", func(s engine.Stats) bool {
			return s.Running+s.Waiting == 0 && s.KVUsage == 0 && s.Ended[engine.Abort] == int64(i+1)
		})
	}
	tr, err := s.Recording()
	if err != nil || len(tr.Requests) != 4 {
		t.Fatalf("%v %v", tr, err)
	}
	for _, r := range tr.Requests {
		if r.Finish.String() != "cancelled" {
			t.Errorf("recorded as %v", r.Finish)
		}
	}
}
