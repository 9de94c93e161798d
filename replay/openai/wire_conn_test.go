package openai

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/replay"
	"reprise/replay/mock"
)

// closer is a server that closes each connection after one answer, without
// saying so, once the next request is there.
func closer(t *testing.T) (url string, served *atomic.Int64) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	served = &atomic.Int64{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				buf := make([]byte, 64<<10)
				if _, err := conn.Read(buf); err != nil {
					return
				}
				served.Add(1)
				body := role + hello + finish + used + done
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				conn.Read(buf) // the next request, which gets no answer
			}()
		}
	}()
	return "http://" + l.Addr().String(), served
}

// A request on a kept connection that the server closes without a word is a
// failure of its own name; it is sent again only where that was allowed, and
// counted.
func TestKeptConnectionClosed(t *testing.T) {
	for _, e := range engines {
		for _, resend := range []bool{false, true} {
			url, served := closer(t)
			c := client(t, url, by(e, func(c *Config) { c.Wire.Resend = resend }))
			if r := sendCtx(t.Context(), t, c); r.Class != replay.OK {
				t.Fatalf("%s: %+v", e, r)
			}
			r := sendCtx(t.Context(), t, c)
			if resend {
				if r.Class != replay.OK || c.Resent() != 1 || served.Load() != 2 || r.Reused.V {
					t.Errorf("%s, resending: %+v, %d resent, %d served", e, r, c.Resent(), served.Load())
				}
				continue
			}
			if r.Class != replay.Truncated || !strings.Contains(r.Reason, "closed the kept connection") || c.Resent() != 0 || served.Load() != 1 {
				t.Errorf("%s: %v %q, %d resent, %d served", e, r.Class, r.Reason, c.Resent(), served.Load())
			}
		}
	}
}

// A server may refuse a long request before it has read it: that is its
// answer, not a broken connection.
func TestEarlyAnswer(t *testing.T) {
	for _, e := range engines {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			buf := make([]byte, 4096)
			conn.Read(buf)
			fmt.Fprint(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
			for { // it reads on, so that its answer is not lost to a reset
				if _, err := conn.Read(buf); err != nil {
					return
				}
			}
		}()
		r := sendOf(t, client(t, "http://"+l.Addr().String(), by(e, nil)), 4<<20, 4)
		if r.Class != replay.HTTP4xx || r.HTTP.V != 413 {
			t.Errorf("%s: %v %s", e, r.Class, r.Reason)
		}
	}
}

// Long requests arrive whole, though the kernel takes them in parts.
func TestLongRequest(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := engineMock(t, func(cfg *mock.Config) {
			if cfg.Law.MaxModelLen = 1 << 22; secure {
				cfg.TLS = &mock.TLS{}
			}
		})
		for _, e := range engines {
			c := client(t, s.URL(), by(e, trusting(s)))
			r := sendOf(t, c, 1<<20, 3)
			again := sendOf(t, c, 4, 3)
			if r.Class != replay.OK || r.InUsage.V < 1<<20 || !r.WriteEnd.OK || again.Class != replay.OK || !again.Reused.V {
				t.Errorf("%s, TLS %v: %v %s, %d tokens, then %v", e, secure, r.Class, r.Reason, r.InUsage.V, again.Class)
			}
		}
	}
}

// A request that finds no connection waits for its turn to open one within its
// own limits, and gets one that becomes idle meanwhile.
func TestPoolTurns(t *testing.T) {
	open := make(chan error)
	var opened atomic.Int64
	p := &pool{max: 1, keep: time.Minute, clock: newStamps(), open: func(context.Context, *trip) (*rawConn, error) {
		opened.Add(1)
		if err := <-open; err != nil {
			return nil, err
		}
		here, there := net.Pipe()
		t.Cleanup(func() { there.Close() })
		c := &rawConn{tap: newTap(here, newStamps())}
		c.conn = c.tap
		return c, nil
	}}
	got := make(chan *rawConn)
	take := func() {
		c, err := p.get(t.Context(), nil, false)
		if err != nil {
			c = nil
		}
		got <- c
	}
	go take()
	open <- nil
	first := <-got
	if first == nil || first.kept {
		t.Fatal("no connection")
	}
	go take() // opens, and fails
	for opened.Load() < 2 {
		runtime.Gosched()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.get(ctx, nil, false); err == nil {
		t.Fatal("it did not wait its turn")
	}
	go take()
	for waits := 0; waits == 0; runtime.Gosched() {
		p.mu.Lock()
		waits = len(p.waiting)
		p.mu.Unlock()
	}
	p.put(first)
	if c := <-got; c != first || !c.kept {
		t.Fatal("the idle connection went elsewhere")
	}
	open <- net.ErrClosed
	if c := <-got; c != nil {
		t.Fatal("a failed dial gave a connection")
	}
	p.put(first)
	if c := p.ready(); c != first || p.ready() != nil || p.opening != 0 {
		t.Fatalf("%d opening", p.opening)
	}
	p.close()
	p.put(first)
	if len(p.idle) != 0 {
		t.Fatal("kept after the end")
	}
}

func TestWireRefuses(t *testing.T) {
	for want, spoil := range map[string]func(*Config){
		"the engine is": func(c *Config) { c.Wire.Engine = "x" }, "stamps is": func(c *Config) { c.Wire.Stamps = "x" },
		"HTTP/2": func(c *Config) { c.Wire.HTTP2 = H2C }, "http2 is": func(c *Config) { c.Wire.HTTP2 = "x" },
		"control character": func(c *Config) { c.Headers = map[string][]string{"X": {"a\r\nb: c"}} },
		"name":              func(c *Config) { c.Headers = map[string][]string{"X y": {"a"}} },
	} {
		cfg := Config{URL: "http://h", Prompter: words{}}
		spoil(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// HTTP/2, in the clear and by TLS's choice, gives what HTTP/1.1 gives.
func TestHTTP2(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := engineMock(t, func(cfg *mock.Config) {
			if cfg.NetHTTP = true; secure {
				cfg.TLS = &mock.TLS{}
			}
		})
		c := client(t, s.URL(), by(EngineNet, func(c *Config) {
			if trusting(s)(c); !secure {
				c.Wire.HTTP2 = H2C
			}
		}))
		for range 2 {
			if r := sendOf(t, c, 5, 6); r.Class != replay.OK || r.NEvents != 6 || !r.WriteEnd.OK || !r.FirstByte.OK {
				t.Errorf("TLS %v: %+v", secure, r)
			} else {
				checkOrder(t, &r)
			}
		}
	}
}
