package main

import (
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"reprise/replay"
	"reprise/replay/mock"
)

// through starts a TCP proxy before an address; back moves what the server
// sends.
func through(t *testing.T, url string, back func(dst, src net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				c.Close()
				continue
			}
			go func() {
				io.Copy(s, c)
				s.Close()
			}()
			go func() {
				back(c, s)
				c.Close()
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// slowly hands each piece on 20 ms after it came, in order.
func slowly(dst, src net.Conn) {
	type piece struct {
		at time.Time
		b  []byte
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			b := make([]byte, 16<<10)
			n, err := src.Read(b)
			if n > 0 {
				pieces <- piece{time.Now().Add(20 * time.Millisecond), b[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.at))
		if _, err := dst.Write(p.b); err != nil {
			src.Close()
			return
		}
	}
}

// holding keeps a chunked answer until it is whole, as a proxy with a large
// buffer does.
func holding(dst, src net.Conn) {
	var kept []byte
	b := make([]byte, 64<<10)
	for {
		n, err := src.Read(b)
		kept = append(kept, b[:n]...)
		if err != nil || strings.HasSuffix(string(kept), "0\r\n\r\n") || strings.Contains(string(kept), "Content-Length") {
			if _, wrong := dst.Write(kept); wrong != nil || err != nil {
				src.Close()
				return
			}
			kept = kept[:0]
		}
	}
}

func stamping(c *mock.Config) { c.StampEvents = true }

// The self-test goes the way of the load: it sees what proxies on the way do,
// and a client that is late.
func TestSelfTest(t *testing.T) {
	path, url := smallTrace(t), started(t, stamping)
	for _, c := range []struct {
		name, url string
		waiter    replay.Waiter
		say       string // empty: whether the test holds is a matter of how busy the machine is
	}{
		{"direct", url, nil, ""},
		{"a slow proxy", through(t, url, slowly), nil, "longer than the server's and the round trip together"},
		{"a buffering proxy", through(t, url, holding), nil, "holds answers back|answers are held back"}, // of a late client it is not known which
		{"a late client", url, tardy{replay.NewWaiter()}, "the client: send lag p99"},
	} {
		code, out, talk := lateReplay(t, c.waiter, path, "--url", c.url, "--self-test=1s")
		if !strings.Contains(out, "Early       0 of ") || !strings.Contains(out, "Both: gaps, off by") || !strings.Contains(out, "the far clock") || strings.Contains(talk, "error:") {
			t.Errorf("%s: exit %d\n%s%s", c.name, code, out, talk)
		}
		if c.say != "" && (code != exitDistrust || !regexp.MustCompile(c.say).MatchString(out) || !strings.Contains(out, "DOES NOT HOLD")) {
			t.Errorf("%s: exit %d\n%s%s", c.name, code, out, talk)
		}
		if c.say == "" && code != exitDone && code != exitDistrust {
			t.Errorf("%s: exit %d\n%s", c.name, code, talk)
		}
	}
	// A server without stamps tells nothing, and a closed loop has no schedule.
	if code, _, talk := command(t, "replay", path, "--url", started(t, nil), "--self-test=1s"); code != exitFailed || !strings.Contains(talk, "have no stamps") {
		t.Errorf("no stamps: exit %d\n%s", code, talk)
	}
	if code, _, talk := command(t, "replay", path, "--url", url, "--self-test=1s", "--concurrency", "2"); code != exitUsage {
		t.Errorf("closed loop: exit %d\n%s", code, talk)
	}
}
