package wire

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"testing"
)

// FuzzWireHead: what we take, net/http takes too and reads alike, however the
// bytes are cut.
func FuzzWireHead(f *testing.F) {
	for _, s := range []string{
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", "GET / HTTP/1.0\r\n\r\n", "\r\nGET /a?b HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: a, close\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET http://x/%2e HTTP/1.1\nHost:\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again Head
		n, wrong := ParseHead(b, &h, true)
		if n < 0 || n > len(b) || n > 0 && wrong != nil && n > MaxHead+4 {
			t.Fatalf("%d of %d bytes", n, len(b))
		}
		if n == 0 || wrong != nil {
			return
		}
		for cut := range n {
			if k, w := ParseHead(b[:cut], &again, false); k != 0 || w != nil {
				t.Fatalf("cut at %d of %d: %d %v", cut, n, k, w)
			}
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(bytes.TrimPrefix(b[:n], []byte("\r\n")))))
		if err != nil {
			t.Fatalf("%q: net/http says %v", b[:n], err)
		}
		length := max(h.Length, 0)
		if h.Chunked {
			length = -1
		}
		if r.Method != h.Method || r.URL.Path != h.Path || r.ProtoMinor != h.Minor || r.ContentLength != length || r.Header.Get("Authorization") != h.Auth {
			t.Errorf("%q: %+v, net/http has %+v", b[:n], h, r)
		}
		if h.Minor == 1 && r.Close != h.Close {
			t.Errorf("%q: close %v, net/http has %v", b[:n], h.Close, r.Close)
		}
	})
}

// FuzzWireBody: a chunked body comes out the same whole or in pieces, and as
// net/http reads it.
func FuzzWireBody(f *testing.F) {
	f.Add([]byte("5\r\nhello\r\n0\r\n\r\n"), uint8(1))
	f.Add([]byte("1;x=y\r\na\r\n00A \r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nGET"), uint8(7))
	f.Add([]byte("2\r\nabc\r\n"), uint8(2))
	f.Add([]byte("0;0\r00\r\n\r\n"), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, piece uint8) {
		const limit = 1 << 16
		read := func(step int) ([]byte, int, bool, *Error) {
			var r Body
			r.Begin(&Head{Length: -1, Chunked: true}, limit, nil)
			from, to := 0, 0
			for {
				to = min(len(b), to+step)
				n, done, wrong := r.Take(b[from:to])
				from += n
				if wrong != nil || done || r.Over || to == len(b) && n == 0 {
					return r.Bytes, from, done, wrong
				}
			}
		}
		whole, n, done, wrong := read(len(b) + 1)
		parts, m, done2, wrong2 := read(int(piece) + 1)
		if done != done2 || (wrong == nil) != (wrong2 == nil) || done && (n != m || !bytes.Equal(whole, parts)) {
			t.Fatalf("%q: whole %q %d %v %v, in pieces %q %d %v %v", b, whole, n, done, wrong, parts, m, done2, wrong2)
		}
		if len(whole) > limit {
			t.Fatalf("%d bytes over the limit", len(whole)-limit)
		}
		if !done {
			return
		}
		want, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(b)))
		if err != nil || !bytes.Equal(want, whole) {
			t.Errorf("%q: %q, net/http has %q %v", b, whole, want, err)
		}
	})
}
