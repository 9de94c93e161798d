package openai

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"reprise/replay"
)

// A request that is sent again goes over a connection that has served nobody:
// all those that wait may have died alike.
func TestResendAnew(t *testing.T) {
	for _, e := range engines {
		url, served := closer(t)
		c := client(t, url, by(e, func(c *Config) { c.Wire.Resend = true }))
		const n = 4
		c.Connect(t.Context(), n) // net: by a request each
		var all sync.WaitGroup
		for range n { // each connection has served once
			all.Go(func() {
				if r := sendCtx(t.Context(), t, c); r.Class != replay.OK {
					t.Errorf("%s: %v %s", e, r.Class, r.Reason)
				}
			})
		}
		all.Wait()
		before := c.Resent()
		r := sendCtx(t.Context(), t, c)
		// The other engine's connections have served once already, and none is left.
		if r.Class != replay.OK || r.Reused.V || e == EngineRaw && c.Resent() != before+1 {
			t.Errorf("%s: %v %q, reused %v, %d resent, %d served", e, r.Class, r.Reason, r.Reused.V, c.Resent(), served.Load())
		}
	}
}

// What a server says unasked on a kept connection is nobody's answer, over TLS
// neither, in one record with the answer before it or after it.
func TestUnaskedOverTLS(t *testing.T) {
	body := role + hello + finish + used + done
	answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	const more = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"
	certs := httptest.NewTLSServer(nil) // for its certificate
	defer certs.Close()
	for name, parts := range map[string][]string{"one record": {answer + more}, "two records": {answer, more}} {
		said := make(chan bool)
		{
			l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certs.TLS.Certificates})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						defer conn.Close()
						in := bufio.NewReader(conn)
						for {
							r, err := http.ReadRequest(in)
							if err != nil {
								return
							}
							io.Copy(io.Discard, r.Body)
							for _, p := range parts {
								io.WriteString(conn, p)
							}
							said <- true
						}
					}()
				}
			}()
			c := client(t, "https://"+l.Addr().String(), by(EngineRaw, func(c *Config) { c.TLS = certs.Client().Transport.(*http.Transport).TLSClientConfig }))
			for range 6 {
				r := sendCtx(t.Context(), t, c)
				<-said // and so it lies there
				if r.Class != replay.OK {
					t.Errorf("%s: %v %s", name, r.Class, r.Reason)
				} else if checkOrder(t, &r); r.FirstByte.V < r.WriteEnd.V {
					t.Errorf("%s: an answer before the request", name)
				}
			}
		}
	}
}
