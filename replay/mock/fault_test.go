package mock

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/replay/mock/engine"
)

// plainLaw gives a token each millisecond, exactly.
func plainLaw() engine.Law {
	l := fastLaw()
	l.Plain = &engine.Plain{TTFT: 1000, ITL: 1000}
	return l
}

// begin starts a server on either front.
func begin(t *testing.T, netHTTP bool, change func(*Config)) *Server {
	t.Helper()
	s, err := Start(t.Context(), testConfig(func(c *Config) {
		c.Law, c.NetHTTP = plainLaw(), netHTTP
		change(c)
	}))
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

// fronts runs a test on both servers.
func fronts(t *testing.T, f func(t *testing.T, netHTTP bool)) {
	t.Run("wire", func(t *testing.T) { f(t, false) })
	t.Run("nethttp", func(t *testing.T) { f(t, true) })
}

// raw is what came back on a connection of its own, byte by byte.
type raw struct {
	all   string
	head  string
	body  string // as it came, chunk lines included
	reset bool   // it ended in a reset, not in FIN
	took  time.Duration
}

const chatBody = `{"model":"mock","stream":true,"stream_options":{"include_usage":true},"max_tokens":6,"ignore_eos":true,"messages":[{"role":"user","content":"one two"}]}`

// rawPost posts a body and reads to the end of the connection. The request
// asks to close it, so that every answer ends.
func rawPost(t *testing.T, s *Server, path, body string, header ...string) raw {
	t.Helper()
	start := time.Now() // before the server can have the connection
	conn := connect(t, s)
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n", path, len(body))
	for _, h := range header {
		head += h + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"+body); err != nil {
		t.Fatal(err)
	}
	return readAll(t, conn, start)
}

func connect(t *testing.T, s *Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func readAll(t *testing.T, conn net.Conn, start time.Time) raw {
	t.Helper()
	data, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("%v after %q", err, data)
	}
	r := raw{all: string(data), reset: err != nil, took: time.Since(start)}
	r.head, r.body, _ = strings.Cut(r.all, "\r\n\r\n")
	return r
}

// content is the body without its chunk lines, and whether it was whole.
func (r *raw) content() (string, bool) {
	data, err := io.ReadAll(httputil.NewChunkedReader(bufio.NewReader(strings.NewReader(r.body))))
	return string(data), err == nil
}

func withFaults(t *testing.T, texts ...string) func(*Config) {
	t.Helper()
	var list []Fault
	for _, text := range texts {
		f, err := ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return func(c *Config) { c.Faults = list }
}

// contents counts the events that have content.
func contents(body string) int { return strings.Count(body, `"delta":{"content":`) }

// TestFaultsOnTheWire holds each fault against what a plain TCP client sees.
func TestFaultsOnTheWire(t *testing.T) {
	status := func(line string) func(*testing.T, raw) {
		return func(t *testing.T, r raw) {
			if !strings.HasPrefix(r.head, "HTTP/1.1 "+line) {
				t.Errorf("head %q", r.head)
			}
		}
	}
	says := func(line string, parts ...string) func(*testing.T, raw) {
		return func(t *testing.T, r raw) {
			status(line)(t, r)
			for _, p := range parts {
				if !strings.Contains(r.all, p) {
					t.Errorf("no %q in %q", p, r.all)
				}
			}
		}
	}
	const done, inside = "data: [DONE]\n\n", "inside an event"
	// ends checks a stream: events with content before its end, whole chunks or
	// not, and what the last bytes are.
	ends := func(events int, whole bool, last string) func(*testing.T, raw) {
		return func(t *testing.T, r raw) {
			status("200")(t, r)
			body, ok := r.content()
			tail := body[strings.LastIndex(body, "\n\n")+2:]
			if last == inside && (!strings.HasPrefix(tail, "data: {") || strings.HasSuffix(tail, "}")) {
				t.Errorf("the body does not end inside an event: %q", tail)
			}
			if ok != whole || r.reset || contents(body) != events || last != inside && !strings.HasSuffix(body, last) {
				t.Errorf("whole %v, reset %v, %d events: %q", ok, r.reset, contents(body), r.body)
			}
		}
	}
	after := func(d time.Duration, and func(*testing.T, raw)) func(*testing.T, raw) {
		return func(t *testing.T, r raw) {
			and(t, r)
			if r.took < d {
				t.Errorf("over after %v, want at least %v", r.took, d)
			}
		}
	}
	nothing := func(reset bool) func(*testing.T, raw) {
		return func(t *testing.T, r raw) {
			if r.all != "" || r.reset != reset {
				t.Errorf("reset %v, %q", r.reset, r.all)
			}
		}
	}
	for _, c := range []struct {
		fault string
		check func(*testing.T, raw)
	}{
		{"slow_accept@for=60ms", after(60*time.Millisecond, ends(6, true, done))},
		{"delay@for=60ms", after(60*time.Millisecond, ends(6, true, done))},
		{"hang@for=60ms", after(60*time.Millisecond, nothing(false))},
		{"close", nothing(false)},
		{"reset_early", nothing(true)},
		{"not_http", func(t *testing.T, r raw) {
			if r.all != notHTTP || r.reset {
				t.Errorf("%q", r.all)
			}
		}},
		{"http_500", says("500 ", `"type":"InternalServerErrorError"`, `"code":500`)},
		{"http_502@body=html", says("502 Bad Gateway", "text/html", "<h1>502 Bad Gateway</h1>")},
		{"http_503@retry_after=2,message=full", says("503 ", "Retry-After: 2\r\n", `"message":"full"`)},
		{"http_529@body=empty", says("529", "Content-Length: 0")},
		{"http_429@retry_after=1.5,rate_limit", says("429 ", "Retry-After: 1.5\r\n", "X-Ratelimit-Remaining-Requests: 0\r\n", "X-Ratelimit-Reset-Requests: 1.5s\r\n")},
		{"http_429@retry_after=90,retry_date", func(t *testing.T, r raw) {
			status("429 ")(t, r)
			resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(r.all)), nil)
			if err != nil {
				t.Fatal(err)
			}
			at, err := http.ParseTime(resp.Header.Get("Retry-After"))
			if wait := time.Until(at); err != nil || wait < 60*time.Second || wait > 92*time.Second {
				t.Errorf("%v from now: %v", wait, err)
			}
		}},
		{"model_404", says("404 ", "The model `mock` does not exist.", `"param":"model"`)},
		{"html", says("200 ", "text/html", "<html>")},
		{"not_json", says("200 ", "text/plain", "upstream connect error")},
		{"empty", says("200 ", "Content-Length: 0")},
		{"stall@after=2,for=80ms", after(80*time.Millisecond, ends(6, true, done))},
		{"reset@after=3", func(t *testing.T, r raw) {
			body, whole := r.content()
			// A reset may overtake what the client has not read yet.
			if !r.reset || whole || contents(body) > 3 {
				t.Errorf("reset %v: %q", r.reset, r.body)
			}
		}},
		{"fin@after=3", ends(3, false, inside)},
		{"truncate@after=3", func(t *testing.T, r raw) {
			lines := strings.Split(r.body, "\r\n")
			size := 0
			if _, err := fmt.Sscanf(lines[len(lines)-2], "%x", &size); err != nil {
				t.Fatal(err)
			}
			if tail := lines[len(lines)-1]; size <= len(tail) || contents(r.body) != 3 || !strings.HasPrefix(tail, "data: {") {
				t.Errorf("chunk of %d has %d bytes: %q", size, len(tail), r.body)
			}
		}},
		{"cut@after=3", ends(3, true, inside)},
		{"error_event@after=2,message=gone", func(t *testing.T, r raw) {
			ends(2, true, done)(t, r)
			body, _ := r.content()
			list := payloads(t, body)
			var got struct{ Error apiError }
			err := json.Unmarshal([]byte(list[len(list)-2]), &got)
			if want := (apiError{Status: 500, Message: "gone", Type: "InternalServerError"}); err != nil || got.Error != want {
				t.Errorf("%+v, %v", got.Error, err)
			}
		}},
		{"error_event", ends(0, true, done)},
		{"bad_event@after=2", ends(7, true, done)},
		{"no_done", func(t *testing.T, r raw) {
			ends(6, true, "}\n\n")(t, r)
			if body, _ := r.content(); strings.Contains(body, "[DONE]") || !strings.Contains(body, `"completion_tokens":6`) {
				t.Errorf("%q", body)
			}
		}},
		{"wrong_usage", says("200 ", `"total_tokens":22,"completion_tokens":13`)},
		{"wrong_usage@tokens=-2", says("200 ", `"total_tokens":13,"completion_tokens":4`)},
		{"no_usage", func(t *testing.T, r raw) {
			ends(6, true, done)(t, r)
			if strings.Contains(r.all, "usage") {
				t.Errorf("%q", r.all)
			}
		}},
		{"gzip", func(t *testing.T, r raw) {
			says("200 ", "Content-Encoding: gzip")(t, r)
			body, whole := r.content()
			z, err := gzip.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(z)
			if err != nil || !whole || contents(string(text)) != 6 || !bytes.HasSuffix(text, []byte(done)) {
				t.Errorf("%v: %q", err, text)
			}
		}},
		// What waits for an event that never comes happens at the end.
		{"fin@after=1000", ends(5, false, inside)},
		{"fin@n=2", ends(6, true, done)},
		{"fin@t=1h-", ends(6, true, done)},
		{"fin@path=/v1/completions", ends(6, true, done)},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			fronts(t, func(t *testing.T, netHTTP bool) {
				s := begin(t, netHTTP, withFaults(t, c.fault))
				c.check(t, rawPost(t, s, chatPath, chatBody))
			})
		})
	}
}

// TestGoaway: a client that keeps its connection is told that it ends.
func TestGoaway(t *testing.T) {
	fronts(t, func(t *testing.T, netHTTP bool) {
		s := begin(t, netHTTP, withFaults(t, "goaway@n=2"))
		conn := connect(t, s)
		in := bufio.NewReader(conn)
		for i, want := range []bool{false, true} {
			if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(chatBody), chatBody); err != nil {
				t.Fatal(err)
			}
			r, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil || contents(string(body)) != 6 || r.Close != want {
				t.Fatalf("answer %d: close %v, %v: %s", i+1, r.Close, err, body)
			}
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("the connection goes on: %v", err)
		}
	})
}

// TestSilence: an answer that stands still ends only when the client leaves,
// and then the engine forgets the request.
func TestSilence(t *testing.T) {
	for _, fault := range []string{"stall@after=2", "hang"} {
		fronts(t, func(t *testing.T, netHTTP bool) {
			s := begin(t, netHTTP, withFaults(t, fault))
			conn := connect(t, s)
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(chatBody), chatBody)
			if fault != "hang" {
				in := bufio.NewReader(conn)
				for n := 0; n < 2; {
					line, err := in.ReadString('\n')
					if err != nil {
						t.Fatal(err)
					}
					n += contents(line)
				}
			}
			if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			var late net.Error
			if b, err := io.ReadAll(conn); !errors.As(err, &late) || !late.Timeout() || len(b) > 0 {
				t.Errorf("%s: %q, %v", fault, b, err)
			}
		})
	}
}

// TestFaultsOfWholeAnswers: answers that do not stream break in their middle.
func TestFaultsOfWholeAnswers(t *testing.T) {
	const body = `{"model":"mock","max_tokens":6,"ignore_eos":true,"prompt":"one two"}`
	for _, c := range []struct {
		fault string
		whole bool
		has   string
	}{
		{"fin", false, `"object":"text_completion"`}, {"truncate", false, `"object":"text_completion"`}, {"cut", true, `"object":"text_completion"`},
		{"error_event", true, `"code":500`}, {"stall@for=10ms", true, `"completion_tokens":6`},
		{"wrong_usage", true, `"completion_tokens":13`}, {"no_done", true, `"completion_tokens":6`},
	} {
		fronts(t, func(t *testing.T, netHTTP bool) {
			r := rawPost(t, begin(t, netHTTP, withFaults(t, c.fault)), completionsPath, body)
			got, whole := r.content()
			if whole != c.whole || !strings.Contains(got, c.has) || !strings.Contains(r.head, "application/json") {
				t.Errorf("%s: whole %v: %s\n%s", c.fault, whole, r.head, got)
			}
		})
	}
}

// TestFaultsOfOtherPaths: the rest of the API can fail, the mock's own pages
// never do.
func TestFaultsOfOtherPaths(t *testing.T) {
	fronts(t, func(t *testing.T, netHTTP bool) {
		s := begin(t, netHTTP, withFaults(t, "http_503@path=/health,n=2", "http_500@path=*,n=3-"))
		get := func(path string) int {
			r, err := http.Get(s.URL() + path)
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			return r.StatusCode
		}
		for i, c := range []struct {
			path string
			want int
		}{{"/health", 200}, {"/mock/law", 200}, {"/health", 503}, {"/metrics", 500}, {"/mock/lateness", 200}, {"/v1/models", 500}} {
			if got := get(c.path); got != c.want {
				t.Errorf("request %d, %s: %d, want %d", i+1, c.path, got, c.want)
			}
		}
	})
}
