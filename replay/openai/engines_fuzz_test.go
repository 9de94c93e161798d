package openai

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/replay"
	"reprise/trace"
)

// overPipe joins a client and its server.
func overPipe() (here, there net.Conn) { return net.Pipe() }

// speaker is a server that reads a request and then says the same bytes,
// whatever it was asked, in pieces cut anywhere, and closes.
func speaker(answer []byte, seed uint64, join func() (here, there net.Conn)) dialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		here, there := join()
		go func() {
			defer there.Close()
			r, err := http.ReadRequest(bufio.NewReader(there))
			if err != nil {
				return
			}
			io.Copy(io.Discard, r.Body)
			rng := rand.New(rand.NewPCG(seed, 1))
			for b := answer; len(b) > 0; {
				n := 1 + rng.IntN(len(b))
				if rng.IntN(2) == 0 {
					n = min(n, 1+rng.IntN(8))
				}
				if _, err := there.Write(b[:n]); err != nil {
					return
				}
				b = b[n:]
			}
		}()
		return here, nil
	}
}

// said returns what an engine makes of the bytes, without the times.
func said(t *testing.T, engine string, answer []byte, seed uint64, join func() (here, there net.Conn)) replay.Result {
	c, err := New(Config{URL: "http://h", Model: "m", Prompter: words{}, Wire: Wire{Engine: engine, Dial: speaker(answer, seed, join)}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := sendCtx(t.Context(), t, c)
	checkOrder(t, &r)
	for _, at := range []*trace.Opt[int64]{&r.ConnReady, &r.WriteEnd, &r.FirstByte, &r.FirstEvent, &r.FirstContent, &r.FirstAnswer, &r.LastContent, &r.End} {
		at.V = 0
	}
	r.RetryAfterMS.V = 0 // a date counts from now
	r.NReads, r.Gaps = 0, slices.Repeat([]int32{0}, len(r.Gaps))
	return r
}

// answers are starts for the fuzzers: each way to end a body, and what goes
// wrong in heads and bodies.
func answers() []string {
	stream := role + hello + think + toolUp + finish + used + done
	length := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	object := `{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{"completion_tokens":4}}`
	out := []string{
		chunked(role, hello, world, finish, used, done) + chunkedEnd,
		chunked(stream),
		chunked(stream) + "0\r\nX-T: 1\r\n\r\n",
		chunked(stream) + "0\r\nbad trailer\r\n\r\n",
		chunked(hello[:9], hello[9:], finish, done) + "0;ext=1\r\n\r\nHTTP/1.1 200 OK\r\n",
		strings.Replace(chunked(hello), "\r\n\r\n", "\r\n\r\n0005;a=b\r\n: hi\n\r\n", 1),
		"HTTP/1.1 200 OK\r\n" + length(stream),
		"HTTP/1.1 200 OK\r\n" + length(object),
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n" + object,
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n" + object,
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n" + object,
		"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n" + object,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + object,
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + stream,
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n" + stream,
		"HTTP/1.1 200 OK\r\nConnection: close, TE\r\n\r\n" + stream,
		"HTTP/1.1 200 OK\nX-Request-Id: a\n b\n\tc\n\n" + stream,
		"HTTP/1.1 200\r\n\r\n" + stream,
		"HTTP/1.1 200 OK\r\n Folded: first\r\n\r\n" + stream,
		"HTTP/1.1 200 OK\r\nno colon\r\n\r\n" + stream,
		"HTTP/1.1 200 OK\r\nbad\x01name: x\r\n\r\n" + stream,
		"HTTP/1.1 200 OK\r\nname : x\r\nContent-Length : 3\r\n\r\n" + stream,
		"HTTP/1.1 200 OK\r\nx: a\x00b\r\n\r\n" + stream,
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + chunked(stream) + chunkedEnd,
		"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc",
		"HTTP/1.1 204 No Content\r\n\r\n" + stream,
		"HTTP/1.1 429 Too Many\r\nRetry-After: 2\r\nX-Request-Id: r\r\n" + length(`{"error":{"message":"slow"}}`),
		"HTTP/1.1 503 \r\nDate: Fri, 02 Jan 2026 03:04:14 GMT\r\nRetry-After: Fri, 02 Jan 2026 03:04:15 GMT\r\n\r\nbusy",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b",
		"HTTP/1.1 200 OK\r\nTrailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 -20 OK\r\n\r\n", "SSH-2.0-x\r\n", "\r\n", "HTTP/1.1 200 OK\r\nX: y", "",
	}
	return out
}

// Both engines say the same of the same bytes, however they are cut.
func FuzzEngines(f *testing.F) {
	for i, a := range answers() {
		f.Add([]byte(a), uint64(i))
	}
	f.Fuzz(func(t *testing.T, answer []byte, seed uint64) {
		if len(answer) > 64<<10 {
			t.Skip("large heads are cut off at bounds that differ by a buffer")
		}
		want := fmt.Sprintf("%+v", said(t, EngineNet, answer, seed, overPipe))
		for i, join := range []func() (here, there net.Conn){overPipe, overPair} {
			if got := fmt.Sprintf("%+v", said(t, EngineRaw, answer, seed, join)); got != want {
				t.Fatalf("of %q\nraw says %s (join %d)\nnet says %s", answer, got, i, want)
			}
		}
	})
}

// A head that the fast scan is sure of means what net/http makes of it.
func FuzzHead(f *testing.F) {
	for _, a := range answers() {
		f.Add([]byte(a))
	}
	names := []string{"X-Request-Id", "Server", "Retry-After", "Retry-After-Ms", "Date", "Content-Encoding", "Openai-Processing-Ms", "X"}
	f.Fuzz(func(t *testing.T, b []byte) {
		end := headEnd(b, 0)
		if end < 0 {
			return
		}
		for from := range min(end, 64) {
			if headEnd(b[:end], from) > 0 && headEnd(b[:end], from) != end {
				t.Fatalf("the end of %q is %d, but from %d on %d", b, end, from, headEnd(b[:end], from))
			}
		}
		var got head
		if !got.scan(b[:end]) {
			return
		}
		r := bufio.NewReader(bytes.NewReader(b[:end]))
		want, err := http.ReadResponse(r, nil)
		if err != nil || r.Buffered() > 0 {
			t.Fatalf("%q: net/http refuses (%v, %d left)", b[:end], err, r.Buffered())
		}
		if got.status != want.StatusCode || got.close != want.Close {
			t.Fatalf("%q: %+v, want %d close %v", b[:end], got, want.StatusCode, want.Close)
		}
		how := byClose
		switch {
		case !bodyAllowed(want.StatusCode):
			how = noBody
		case len(want.TransferEncoding) > 0:
			how = byChunks
		case want.ContentLength >= 0:
			how = byLength
		}
		if got.framing != how || how == byLength && got.length != want.ContentLength {
			t.Fatalf("%q: %+v, want %v, %d bytes", b[:end], got, how, want.ContentLength)
		}
		for _, n := range names {
			if got.fields.Get(n) != want.Header.Get(n) {
				t.Fatalf("%q: %s is %q, want %q", b[:end], n, got.fields.Get(n), want.Header.Get(n))
			}
		}
	})
}

// Whatever the cuts, a parser gives the same body, and never more than its
// bounds of memory.
func FuzzFraming(f *testing.F) {
	for i, a := range answers() {
		f.Add([]byte(a), uint64(i))
	}
	read := func(b []byte, rng *rand.Rand) (string, string) {
		var p parser
		out := []byte{}
		for len(b) > 0 && !p.over {
			n := len(b)
			if rng != nil {
				n = 1 + rng.IntN(n)
			}
			for piece := b[:n]; len(piece) > 0 && !p.over; {
				k, kind, data, err := p.next(piece)
				if err != nil {
					return string(out), "wrong"
				}
				if k <= 0 {
					panic("no progress")
				}
				if kind == aHead {
					out = fmt.Append(out, p.head.status, p.head.framing, p.head.length, p.head.close)
				}
				out = append(out, data...)
				piece, b = piece[k:], b[k:]
			}
			if cap(p.line) > 2*maxHead+n {
				panic("too much kept")
			}
		}
		return string(out), fmt.Sprint(p.over, p.end() == nil, len(b))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		body, how := read(b, nil)
		cutBody, cutHow := read(b, rand.New(rand.NewPCG(seed, 2)))
		if body != cutBody || how != cutHow {
			t.Fatalf("%q whole: %q %s; cut: %q %s", b, body, how, cutBody, cutHow)
		}
	})
}

// Reading a stream takes no memory per event, chunk lines and JSON included.
func TestNoAllocPerEvent(t *testing.T) {
	event := `data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1760000000,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	chunk := fmt.Appendf(nil, "%x\r\n%s\r\n", len(event), event)
	for name, cut := range map[string]int{"one event a read": len(chunk), "cut in two": len(chunk) / 3} {
		k := &call{client: client(t, "http://h", nil), answerRoom: 1 << 16}
		c := &rawConn{tap: &tap{clock: k.client.stamps}}
		clock := k.client.stamps
		push := func(b []byte) {
			if _, err := c.feed(b, clock.now(), clock, k); err != nil {
				t.Fatal(err)
			}
		}
		push([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
		push(chunk)
		push(chunk[:cut])
		push(chunk[cut:])
		before := k.result.NEvents
		if n := testing.AllocsPerRun(2000, func() {
			push(chunk[:cut])
			if cut < len(chunk) {
				push(chunk[cut:])
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations an event", name, n)
		}
		if k.result.NEvents != before+2001 || k.answer.class != replay.OK {
			t.Fatalf("%d events, %v", k.result.NEvents-before, k.answer.reason)
		}
	}
}

// A read of a socket, kernel stamp and all, takes no memory.
func TestNoAllocPerRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{Control: askStamps}).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	c := newTap(conn, newStamps())
	msg := []byte("x")
	if n := testing.AllocsPerRun(500, func() {
		if _, err := far.Write(msg); err != nil {
			t.Fatal(err)
		}
		b, err := c.borrow()
		if err != nil || len(b) != 1 {
			t.Fatal(b, err)
		}
		c.giveBack()
		if _, err := c.writeNow(msg); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a read and a write", n)
	}
}
