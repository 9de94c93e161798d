package mock

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// secured starts a server with TLS and gives what a client of it needs.
func secured(t *testing.T, faults ...string) (*Server, *tls.Config) {
	t.Helper()
	s := begin(t, true, func(c *Config) {
		withFaults(t, faults...)(c)
		c.TLS = &TLS{}
	})
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(s.Certificate()) {
		t.Fatal("no certificate")
	}
	return s, &tls.Config{RootCAs: pool, ServerName: "localhost"}
}

// TestTLSFailure: a plain TCP client sees the alert of RFC 8446 in answer to a
// hello, and the connection before and behind it works.
func TestTLSFailure(t *testing.T) {
	s, cfg := secured(t, "tls_failure@n=2")
	for n := range 3 {
		conn := connect(t, s)
		client := tls.Client(conn, cfg)
		err := client.HandshakeContext(t.Context())
		if (err != nil) != (n == 1) {
			t.Fatalf("connection %d: %v", n+1, err)
		}
		if n == 1 && !strings.Contains(err.Error(), "handshake failure") {
			t.Errorf("%v", err)
		}
		client.Close()
	}
	s, _ = secured(t, "tls_failure")
	conn := connect(t, s)
	if _, err := conn.Write([]byte{22, 3, 1, 0, 1, 1}); err != nil {
		t.Fatal(err)
	}
	if r := readAll(t, conn, time.Now()); r.all != "\x15\x03\x03\x00\x02\x02\x28" || r.reset {
		t.Errorf("%q, reset %v", r.all, r.reset)
	}
}

// TestFaultsUnderTLS: bodies break below TLS, so that no alert of an orderly
// close hides it; in HTTP/2 the stream is reset.
func TestFaultsUnderTLS(t *testing.T) {
	for _, fault := range []string{"reset@after=2", "fin@after=2", "truncate@after=2"} {
		for _, two := range []bool{false, true} {
			s, cfg := secured(t, fault)
			tr := &http.Transport{TLSClientConfig: cfg, ForceAttemptHTTP2: two, DisableCompression: true}
			r, err := (&http.Client{Transport: tr}).Post(s.URL()+chatPath, "application/json", strings.NewReader(chatBody))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err == nil || r.ProtoMajor == 2 != two || contents(string(body)) > 2 {
				t.Errorf("%s, HTTP/%d: %v, %q", fault, r.ProtoMajor, err, body)
			}
			tr.CloseIdleConnections()
		}
	}
}

// TestGoawayFrame speaks HTTP/2 by hand and waits for the frame of RFC 9113 §6.8.
func TestGoawayFrame(t *testing.T) {
	for _, fault := range []string{"goaway@path=/health", "goaway@path=/health,n=2"} {
		s, cfg := secured(t, fault)
		cfg.NextProtos = []string{"h2"}
		conn := tls.Client(connect(t, s), cfg)
		frame := func(kind, flags byte, stream uint32, payload string) string {
			head := []byte{0, 0, byte(len(payload)), kind, flags}
			return string(binary.BigEndian.AppendUint32(head, stream)) + payload
		}
		// GET https /health of host x, each field as HPACK (RFC 7541) has it without a table.
		request := "\x82\x87\x04\x07/health\x01\x01x"
		const headers, settings, endBoth = 1, 4, 5
		if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+frame(settings, 0, 0, "")+frame(headers, endBoth, 1, request)); err != nil {
			t.Fatal(err)
		}
		// Without the fault nothing follows the answer, so the connection is read
		// until it falls silent.
		if got, want := sawGoaway(t, conn), !strings.Contains(fault, "n=2"); got != want {
			t.Errorf("%s: GOAWAY %v", fault, got)
		}
	}
}

// sawGoaway reads frames until GOAWAY comes, or until no more do behind the
// answer.
func sawGoaway(t *testing.T, conn net.Conn) bool {
	t.Helper()
	const headers, goaway = 1, 7
	for head := make([]byte, 9); ; {
		if _, err := io.ReadFull(conn, head); err != nil {
			return false
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			t.Fatal(err)
		}
		switch head[3] {
		case goaway:
			if code := binary.BigEndian.Uint32(payload[4:]); code != 0 {
				t.Errorf("GOAWAY with error %d", code)
			}
			return true
		case headers:
			if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
