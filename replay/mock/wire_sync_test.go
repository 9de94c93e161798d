package mock

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/engine"
)

// wireBubble serves pipes in fake time.
func wireBubble(t *testing.T, cfg Config, f func(*testing.T, *wireFront, func() net.Conn)) {
	bubble(t, cfg, func(t *testing.T, h *Handler) {
		w := newWireFront(h)
		f(t, w, func() net.Conn {
			client, server := net.Pipe()
			w.take(server)
			return client
		})
		w.close()
		h.Close()
		w.wg.Wait()
	})
}

// TestWirePlainInRealTime: the plain schedule is exact from the request's first
// byte on, for streams that start at any time.
func TestWirePlainInRealTime(t *testing.T) {
	cfg := testConfig()
	cfg.Law.Plain = &engine.Plain{TTFT: 50000, ITL: 10000}
	wireBubble(t, cfg, func(t *testing.T, w *wireFront, dial func() net.Conn) {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 3 * time.Millisecond)
				c := dial()
				defer c.Close()
				start := time.Now()
				if _, err := io.WriteString(c, completion(ask20)); err != nil {
					t.Error(err)
				}
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Error(err)
					return
				}
				lines := bufio.NewReader(resp.Body)
				for k := range 20 {
					if _, err := lines.ReadString('\n'); err != nil {
						t.Error(err)
					}
					if got, want := time.Since(start), 50*time.Millisecond+time.Duration(k)*10*time.Millisecond; got != want {
						t.Errorf("token %d after %v, want %v", k, got, want)
					}
					_, _ = lines.ReadString('\n')
				}
				_, _ = io.Copy(io.Discard, lines)
			})
		}
		wg.Wait()
		synctest.Wait() // the last writes are counted
		if l := w.h.Lateness(); l.Step.N != 1000 || l.Write.N != 1000 || l.Write.MaxUS != 0 {
			t.Errorf("lateness %+v", l)
		}
		w.h.ResetLateness()
		if l := w.h.Lateness(); l.Step != (driver.Lateness{}) || l.Write != (driver.Lateness{}) {
			t.Errorf("after the reset %+v", l)
		}
	})
}

// TestWireTimeouts: half a request is answered by 408 after its time, a
// connection without any is left alone.
func TestWireTimeouts(t *testing.T) {
	wireBubble(t, testConfig(), func(t *testing.T, w *wireFront, dial func() net.Conn) {
		idle := dial()
		for _, c := range []struct {
			raw  string
			want time.Duration
		}{{"GET /hea", 10 * time.Second}, {"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{", time.Minute}} {
			conn, start := dial(), time.Now()
			if _, err := io.WriteString(conn, c.raw); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || resp.StatusCode != http.StatusRequestTimeout || time.Since(start) != c.want {
				t.Errorf("%q: %v %v after %v", c.raw, resp, err, time.Since(start))
			}
			conn.Close()
		}
		time.Sleep(time.Hour)
		go func() { _, _ = io.WriteString(idle, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n") }()
		if resp, err := http.ReadResponse(bufio.NewReader(idle), nil); err != nil || resp.StatusCode != 200 {
			t.Errorf("idle for an hour: %v %v", resp, err)
		}
		idle.Close()
		synctest.Wait()
		if len(w.conns) != 0 {
			t.Errorf("%d connections left", len(w.conns))
		}
	})
}

// TestWireCloseEndsStreams: closing cuts streams, without the last chunk.
func TestWireCloseEndsStreams(t *testing.T) {
	cfg := testConfig()
	cfg.Law = testLaw()
	wireBubble(t, cfg, func(t *testing.T, w *wireFront, dial func() net.Conn) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				c := dial()
				_, _ = io.WriteString(c, completion(strings.Replace(ask20, "20", "900", 1)))
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					return // it waited for its turn
				}
				if body, err := io.ReadAll(resp.Body); err == nil || strings.Contains(string(body), "[DONE]") {
					t.Errorf("a stream that was cut ended well: %v %s", err, body)
				}
			})
		}
		time.Sleep(time.Second)
		w.close()
		wg.Wait()
	})
}

// TestWirePipelined: of requests that come in one piece each is due from the
// end of the answer before it, also behind one that no engine answers: its wait
// is not part of its own TTFT.
func TestWirePipelined(t *testing.T) {
	cfg := testConfig()
	cfg.Record = true
	cfg.Law.Plain = &engine.Plain{TTFT: 50000, ITL: 10000}
	wireBubble(t, cfg, func(t *testing.T, w *wireFront, dial func() net.Conn) {
		c := dial()
		defer c.Close()
		one, get := completion(`{"model":"mock","prompt":"a","max_tokens":1}`), "GET /version HTTP/1.1\r\nHost: x\r\n\r\n"
		start := time.Now()
		if _, err := io.WriteString(c, one+get+one+get+get+one+one); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(c)
		for i, ms := range []int{50, 50, 100, 100, 100, 150, 200} {
			receive(t, r, "POST ")
			if got, want := time.Since(start), time.Duration(ms)*time.Millisecond; got != want {
				t.Errorf("answer %d after %v, want %v", i, got, want)
			}
		}
		list, err := w.h.Arrivals()
		if err != nil || len(list) != 4 {
			t.Fatalf("%+v %v", list, err)
		}
		for i, a := range list {
			if a.Early != (i > 0) {
				t.Errorf("arrival %d: early is %v", i, a.Early)
			}
		}
	})
}
