package openai

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"reprise/replay"
	"reprise/replay/mock"
)

// script is a server that reads a request and then does what end wants, once a
// connection.
func script(t *testing.T, end func(conn *net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
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
			all.Go(func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				io.Copy(io.Discard, r.Body)
				end(conn.(*net.TCPConn))
			})
		}
	})
	return "http://" + l.Addr().String()
}

// hurried makes every shard of a client nap between its looks, from the first
// reads on.
func hurried(c *Client) {
	c.engine.(*rawEngine).loops.pace = pace{window: 1}
}

// looped sends a request whose answer a shard must read.
func looped(t *testing.T, c *Client) replay.Result {
	t.Helper()
	r := sendCtx(t.Context(), t, c)
	if l := c.engine.(*rawEngine).loops; len(l.shards) == 0 {
		t.Fatal("no shard read the answer")
	}
	checkOrder(t, &r)
	return r
}

// However a connection ends, its answer does too: by a FIN that came with the
// last bytes, or after them, a half-closed connection, a reset.
func TestLoopEnds(t *testing.T) {
	all := role + hello + world + finish + used + done
	closed := "HTTP/1.1 200 OK\r\n\r\n"
	say := func(s string) func(*net.TCPConn) { return func(c *net.TCPConn) { io.WriteString(c, s) } }
	then := func(s string, f func(*net.TCPConn)) func(*net.TCPConn) {
		return func(c *net.TCPConn) {
			io.WriteString(c, s)
			f(c)
		}
	}
	half := func(c *net.TCPConn) {
		c.CloseWrite()
		io.Copy(io.Discard, c) // until the client leaves
	}
	reset := func(c *net.TCPConn) { c.SetLinger(0) }
	corked := func(c *net.TCPConn) { // the last bytes and the FIN in one segment
		raw, _ := c.SyscallConn()
		raw.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_CORK, 1) })
	}
	for name, c := range map[string]struct {
		end   func(*net.TCPConn)
		class replay.Class
		n     int32
	}{
		"close-delimited":               {say(closed + all), replay.OK, 2},
		"close-delimited, one segment":  {func(c *net.TCPConn) { corked(c); io.WriteString(c, closed+all) }, replay.OK, 2},
		"close-delimited, half closed":  {then(closed+all, half), replay.OK, 2},
		"cut in a chunk":                {say(chunked(hello) + "40\r\ndata"), replay.Truncated, 1},
		"cut in a chunk, one segment":   {func(c *net.TCPConn) { corked(c); io.WriteString(c, chunked(hello)+"40\r\ndata") }, replay.Truncated, 1},
		"cut after a chunk, half":       {then(chunked(hello), half), replay.Truncated, 1},
		"reset after a chunk":           {then(chunked(hello), reset), replay.Truncated, -1},
		"nothing, one FIN":              {say(""), replay.Truncated, 0},
		"nothing, half closed":          {half, replay.Truncated, 0},
		"whole, then a FIN":             {say(chunked(all) + chunkedEnd), replay.OK, 2},
		"whole, longer than the buffer": {say(chunked(role) + longChunks(all)), replay.OK, 2},
	} {
		for _, fast := range []bool{false, true} {
			cl := client(t, script(t, c.end), func(c *Config) { c.Idle, c.Wire.NewConns = time.Minute, true })
			if fast {
				hurried(cl)
			}
			for range 3 {
				r := looped(t, cl)
				if c.class == replay.Truncated && r.NEvents == 0 && (r.Class == replay.Connect || r.Class == replay.Truncated) {
					continue // a reset may take the bytes ahead of it along
				}
				if r.Class != c.class || c.n >= 0 && r.NEvents != c.n {
					t.Errorf("%s, naps %v: %v (%s), %d events, want %v, %d", name, fast, r.Class, r.Reason, r.NEvents, c.class, c.n)
				}
			}
		}
	}
}

// An end that comes while more than one read is waiting is seen: it makes no
// sign of its own once the rest is read.
func TestLoopEndBehindMuch(t *testing.T) {
	all := role + hello + world + finish + used + done
	much := strings.Repeat(": "+strings.Repeat("x", 1022)+"\n\n", 5*readBuffer/2>>10)
	for name, c := range map[string]struct {
		say   string
		class replay.Class
	}{
		"close-delimited": {"HTTP/1.1 200 OK\r\n\r\n" + much + all, replay.OK},
		"cut in a chunk":  {chunked(role, much, hello) + "40\r\ndata", replay.Truncated},
		"a refusal":       {"HTTP/1.1 503 Busy\r\n\r\n" + much, replay.Overload},
	} {
		reads := make(chan *loops, 1)
		url := script(t, func(conn *net.TCPConn) {
			l := <-reads
			l.mu.Lock()
			s := l.shards[0]
			l.mu.Unlock()
			s.mu.Lock() // it reads nothing before all is there
			io.WriteString(conn, c.say)
			conn.CloseWrite()
			s.mu.Unlock()
			io.Copy(io.Discard, conn)
		})
		cl := client(t, url, func(c *Config) { c.FirstToken, c.Idle, c.Wire.NewConns = 5*time.Second, 5*time.Second, true })
		reads <- cl.engine.(*rawEngine).loops
		if r := looped(t, cl); r.Class != c.class {
			t.Errorf("%s: %v (%s), want %v", name, r.Class, r.Reason, c.class)
		}
	}
}

// longChunks is the rest of a chunked answer, with comments of three times what
// one read takes.
func longChunks(s string) string {
	ping := ": " + strings.Repeat("x", 1022) + "\n\n"
	out := ""
	for range 3 * readBuffer / len(ping) {
		out += strings.TrimPrefix(chunked(ping), chunked())
	}
	return out + strings.TrimPrefix(chunked(s), chunked()) + chunkedEnd
}

// A connection that the server half closes while it is idle is found dead, and
// one on which it says something unasked too.
func TestLoopIdle(t *testing.T) {
	for name, after := range map[string]func(*net.TCPConn){
		"half closed": func(c *net.TCPConn) { c.CloseWrite() },
		"bytes":       func(c *net.TCPConn) { io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\n\r\n") },
	} {
		there := make(chan struct{}, 8)
		c := client(t, script(t, func(conn *net.TCPConn) {
			io.WriteString(conn, chunked(role, hello, finish, used, done)+chunkedEnd)
			after(conn)
			there <- struct{}{}
			io.Copy(io.Discard, conn)
		}), nil)
		for range 3 {
			r := looped(t, c)
			<-there
			// Loopback hands it over before the server's call returns.
			if r.Class != replay.OK || r.Reused.V {
				t.Errorf("%s: %v %s, reused %v", name, r.Class, r.Reason, r.Reused.V)
			}
		}
	}
}

// What comes while no answer is awaited is read once one is: the set gives no
// second sign of it.
func TestLoopMissed(t *testing.T) {
	here, there := overPair()
	defer there.Close()
	c := client(t, "http://h", nil)
	e := c.engine.(*rawEngine)
	s := e.loops.adopt(here)
	if s == nil {
		t.Fatal("not taken over")
	}
	defer s.close()
	io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
	for seen := false; !seen; runtime.Gosched() {
		s.mu.Lock()
		seen = s.missed
		s.mu.Unlock()
	}
	rc := &rawConn{sock: s}
	rc.begin(limits{-1, -1, time.Minute}, c.stamps.now())
	w := &whole{}
	s.begin(rc, w, &passage{}, 0)
	if err := s.wait(t.Context()); err != nil || string(w.data) != "hi" {
		t.Fatalf("%v, %q", err, w.data)
	}
}

// Many answers that end in every way at once, some given up by their callers,
// leave no wait behind and no shard once the client is closed.
func TestLoopMany(t *testing.T) {
	faults, err := mock.ParseFault("fin@after=3,p=0.2")
	if err != nil {
		t.Fatal(err)
	}
	for _, fast := range []bool{false, true} {
		s := engineMock(t, func(cfg *mock.Config) {
			cfg.Law.MaxSeqs, cfg.Law.MaxBatched = 256, 1<<14
			cfg.Faults = []mock.Fault{faults}
		})
		c := client(t, s.URL(), func(c *Config) { c.Model = "mock" })
		if fast {
			hurried(c)
		}
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				for k := range 6 {
					ctx, cancel := context.WithCancel(t.Context())
					if (i+k)%5 == 0 {
						go func() {
							for range i {
								runtime.Gosched()
							}
							cancel()
						}()
					}
					call, err := c.Prepare(job(5, 12))
					if err != nil {
						t.Error(err)
					}
					r := call.Send(ctx, replay.NewFlight(replay.NewTimer(time.Now())))
					if r.Class != replay.OK && r.Class != replay.Truncated && r.Class != replay.Cancelled {
						t.Errorf("%v: %s", r.Class, r.Reason)
					}
					cancel()
				}
			})
		}
		all.Wait()
		c.Close()
		for _, shard := range c.engine.(*rawEngine).loops.shards {
			shard.mu.Lock()
			if open := len(shard.socks) - len(shard.free); open != 0 {
				t.Errorf("%d connections still open", open)
			}
			shard.mu.Unlock()
			for shard.file.SetReadDeadline(time.Unix(1, 0)) == nil { // until it is shut
				runtime.Gosched()
			}
		}
	}
}

// The pace: naps while there are many events, stamped by the kernel, and streams
// are not read together.
func TestPace(t *testing.T) {
	for name, c := range map[string]struct {
		reads, pieces int
		stamped, may  bool
		was, want     bool
	}{
		"busy": {200, 1, true, true, false, true}, "idle": {20, 1, true, true, false, false}, "slower": {60, 1, true, true, true, true},
		"slow": {30, 1, true, true, true, false}, "user stamps": {200, 1, true, false, true, false}, "unstamped": {200, 1, false, true, true, false},
		"read together": {200, 2, true, true, true, false},
	} {
		p := newPace()
		p.begin(0)
		for range c.reads {
			p.note(c.pieces, c.stamped)
		}
		if got := p.paced(c.was, int64(p.window), c.may); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
