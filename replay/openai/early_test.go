package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"reprise/replay"
)

// early is a server that answers once it has read the first part of a request
// that is far longer than the kernel's buffers, and then ends the connection.
type early struct {
	url   string
	trust *tls.Config // nil: plain
}

// leaves are the ways in which it ends a connection: a close with much unread
// resets it, and so does a linger of nothing.
var leaves = map[string]func(*net.TCPConn){
	"closed": func(c *net.TCPConn) { c.Close() },
	"reset":  func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
	"half closed": func(c *net.TCPConn) {
		c.CloseWrite()
		io.Copy(io.Discard, c)
		c.Close()
	},
}

func newEarly(t *testing.T, secure bool, answer string, leave func(*net.TCPConn)) early {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := early{url: "http://" + l.Addr().String()}
	var config *tls.Config
	if secure {
		certs := httptest.NewTLSServer(nil) // for its certificate
		defer certs.Close()
		config = &tls.Config{Certificates: certs.TLS.Certificates}
		pool := x509.NewCertPool()
		pool.AddCert(certs.Certificate())
		e.url, e.trust = "https://"+l.Addr().String(), &tls.Config{RootCAs: pool}
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { refuse(conn.(*net.TCPConn), config, answer, leave) })
		}
	})
	return e
}

// refuse reads 64 KiB, says its answer and leaves.
func refuse(conn *net.TCPConn, config *tls.Config, answer string, leave func(*net.TCPConn)) {
	defer conn.Close()
	conn.SetReadBuffer(32 << 10)
	var over net.Conn = conn
	if config != nil {
		over = tls.Server(conn, config)
	}
	if _, err := io.ReadFull(over, make([]byte, 64<<10)); err == nil {
		io.WriteString(over, answer)
	}
	leave(conn)
}

// client is one of the server, by an engine.
func (e early) client(t *testing.T, engine string, with func(*Config)) *Client {
	return client(t, e.url, by(engine, func(c *Config) {
		// A wait that nothing ends would be an hour.
		c.TLS, c.FirstToken, c.Idle, c.Total = e.trust, time.Hour, time.Hour, time.Hour
		c.Wire.Dial = narrow
		if with != nil {
			with(c)
		}
	}))
}

// narrow opens a connection whose buffers are small.
func narrow(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{Control: askStamps}).DialContext(ctx, network, addr)
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(32 << 10)
	}
	return conn, err
}

// long is the length of a request that those do not hold, in words of 2 bytes.
const long = 512 << 10

// refusals that come early, and what each must be.
var earlyAnswers = map[string]struct {
	say   string
	class replay.Class
	http  int16
}{
	"length":             {"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig", replay.HTTP4xx, 413},
	"length, kept alive": {"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nslow", replay.HTTP429, 429},
	"no body":            {"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", replay.HTTP4xx, 401},
	"until closed":       {"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\nbusy", replay.Overload, 503},
	"chunked":            {"HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n3\r\noh!\r\n0\r\n\r\n", replay.HTTP5xx, 500},
	"body cut":           {"HTTP/1.1 503 Busy\r\nContent-Length: 99\r\n\r\nbusy", replay.Overload, 503},
	"a whole stream":     {chunked(role, hello, world, finish, used, done) + chunkedEnd, replay.OK, 200},
	"a cut stream":       {chunked(role, hello, world), replay.Truncated, 200},
	"a cut head":         {"HTTP/1.1 413 Too La", replay.Truncated, 0},
	"nothing":            {"", replay.Truncated, 0},
}

// A server may answer before it has read a request, and go: its answer counts,
// not that the rest of the request could not be written. Where it has said
// nothing, that is what it was. Both engines say the same.
func TestEarlyAnswers(t *testing.T) {
	for name, a := range earlyAnswers {
		for how, leave := range leaves {
			if how == "half closed" && name != "length" && name != "nothing" {
				continue // no failure in it
			}
			for _, secure := range []bool{false, true} {
				e := newEarly(t, secure, a.say, leave)
				var reasons []string
				for _, engine := range engines {
					c := e.client(t, engine, nil)
					for range 2 {
						r := sendOf(t, c, long, 4)
						if r.Class != a.class || r.HTTP.V != a.http || strings.Contains(a.say, "Retry-After: 7") != r.RetryAfterMS.OK {
							t.Errorf("%s, %s, TLS %v, by %s: %v %q, HTTP %v", name, how, secure, engine, r.Class, r.Reason, r.HTTP)
						}
						if a.class == replay.OK && r.NEvents != 2 {
							t.Errorf("%s, %s, TLS %v, by %s: %d events", name, how, secure, engine, r.NEvents)
						}
						checkOrder(t, &r)
						reasons = append(reasons, r.Reason)
					}
				}
				for _, r := range reasons {
					if r != reasons[0] {
						t.Errorf("%s, %s, TLS %v: %q", name, how, secure, reasons)
					}
				}
			}
		}
	}
}

// behind is a connection that hands on what it reads of an answer only after a
// write has failed.
type behind struct {
	net.Conn
	written atomic.Int64
	once    sync.Once
	failed  chan struct{}
}

func (b *behind) Write(p []byte) (int, error) {
	n, err := b.Conn.Write(p)
	b.written.Add(int64(n))
	if err != nil {
		b.once.Do(func() { close(b.failed) })
	}
	return n, err
}

func (b *behind) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.written.Load() > 32<<10 { // no handshake any more
		<-b.failed
	}
	return n, err
}

// The answer counts even where the failure of the write is known first.
func TestEarlyAnswerBehindFailure(t *testing.T) {
	for name, a := range earlyAnswers {
		for _, secure := range []bool{false, true} {
			e := newEarly(t, secure, a.say, leaves["closed"])
			for _, engine := range engines {
				c := e.client(t, engine, func(c *Config) {
					c.Wire.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
						conn, err := narrow(ctx, network, addr)
						if err != nil {
							return nil, err
						}
						return &behind{Conn: conn, failed: make(chan struct{})}, nil
					}
				})
				for range 2 {
					r := sendOf(t, c, long, 4)
					if r.Class != a.class || r.HTTP.V != a.http {
						t.Errorf("%s, TLS %v, by %s: %v %q, HTTP %v", name, secure, engine, r.Class, r.Reason, r.HTTP)
					}
					checkOrder(t, &r)
				}
			}
		}
	}
}

// brokenPipe is a connection that takes the start of a request, answers, and
// takes no more; unlike a real one it does not end for that.
type brokenPipe struct {
	net.Conn // of nothing
	answer   string
	taken    atomic.Int64
	close    sync.Once
	answers  chan string
	closed   chan struct{}
}

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.taken.Add(int64(len(p))) > 64<<10 {
		return 0, &net.OpError{Op: "write", Err: syscall.EPIPE}
	}
	if bytes.HasPrefix(p, []byte("POST")) {
		b.answers <- b.answer
	}
	return len(p), nil
}

func (b *brokenPipe) Read(p []byte) (int, error) {
	select {
	case a := <-b.answers:
		return copy(p, a), nil
	case <-b.closed:
		return 0, net.ErrClosed
	}
}

func (b *brokenPipe) Close() error {
	b.close.Do(func() { close(b.closed) })
	return nil
}

// A connection whose end the transport was not told of serves nobody else: a
// request that gets it goes over the next, and only there.
func TestDeadConnectionIsPassedOver(t *testing.T) {
	dials := 0
	c := client(t, "http://h", by(EngineNet, func(c *Config) {
		c.Wire.Dial = func(context.Context, string, string) (net.Conn, error) {
			dials++
			return &brokenPipe{answer: earlyAnswers["length, kept alive"].say, answers: make(chan string, 1), closed: make(chan struct{})}, nil
		}
	}))
	for i := range 4 {
		r := sendOf(t, c, 256<<10, 4)
		if r.Class != replay.HTTP429 || r.Reused.V || dials != i+1 || c.Resent() != 0 {
			t.Errorf("%d: %v %q, reused %v, %d dials, %d resent", i, r.Class, r.Reason, r.Reused.V, dials, c.Resent())
		}
		checkOrder(t, &r)
	}
}

// dropping is a server that closes its connections after 64 KiB without a word,
// but for every first request of one, which it answers.
func dropping(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				buf := make([]byte, 64<<10)
				n, err := conn.Read(buf)
				if err != nil || !bytes.Contains(buf[:n], []byte("}")) {
					return
				}
				body := role + hello + finish + used + done
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				io.ReadFull(conn, buf)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// A long request that dies on a kept connection without a word is of the kept
// connection's class, and is sent again only where that was asked for.
func TestEarlyEndOfKept(t *testing.T) {
	for _, engine := range engines {
		c := client(t, dropping(t), by(engine, nil))
		if r := sendOf(t, c, 8, 4); r.Class != replay.OK {
			t.Fatalf("%s: %v %s", engine, r.Class, r.Reason)
		}
		r := sendOf(t, c, long, 4)
		if r.Class != replay.Truncated || !strings.Contains(r.Reason, "closed the kept connection") || !r.Reused.V {
			t.Errorf("%s: %v %q, reused %v", engine, r.Class, r.Reason, r.Reused.V)
		}
	}
}

// An early answer of a stated length ends the request when it is whole, though
// the server reads no more and does not close.
func TestEarlyAnswerKeptOpen(t *testing.T) {
	for _, secure := range []bool{false, true} {
		leave := make(chan struct{})
		e := newEarly(t, secure, earlyAnswers["length, kept alive"].say, func(*net.TCPConn) { <-leave })
		t.Cleanup(func() { close(leave) })
		for _, engine := range engines {
			c := e.client(t, engine, nil)
			for range 2 {
				r := sendOf(t, c, long, 4)
				if r.Class != replay.HTTP429 || r.RetryAfterMS != some[int64](7000) || r.Reused.V {
					t.Errorf("TLS %v, by %s: %v %q, reused %v", secure, engine, r.Class, r.Reason, r.Reused.V)
				}
				checkOrder(t, &r)
			}
		}
	}
}

// A server that neither answers nor reads ends a request by its limits.
func TestEarlySilence(t *testing.T) {
	for _, secure := range []bool{false, true} {
		leave := make(chan struct{})
		e := newEarly(t, secure, "", func(*net.TCPConn) { <-leave })
		t.Cleanup(func() { close(leave) })
		for _, engine := range engines {
			for want, with := range map[replay.Class]func(*Config){
				replay.TimeoutFirstToken: func(c *Config) { c.FirstToken = 100 * time.Millisecond },
				replay.TimeoutTotal:      func(c *Config) { c.Total = 100 * time.Millisecond },
			} {
				if r := sendOf(t, e.client(t, engine, with), long, 4); r.Class != want {
					t.Errorf("TLS %v, by %s: %v %q, want %v", secure, engine, r.Class, r.Reason, want)
				}
			}
		}
	}
}
