package openai

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"reprise/replay"
)

// Through a proxy that is itself spoken to over TLS, the stamps are those of the
// socket beneath both layers.
func TestProxyOverTLS(t *testing.T) {
	far := httptest.NewTLSServer(flushed(role, hello, world, finish, used, done))
	defer far.Close()
	var tunnels sync.WaitGroup
	defer tunnels.Wait()
	proxy := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		there, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			there.Close()
			return
		}
		io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		tunnels.Go(func() {
			io.Copy(there, here)
			there.Close()
		})
		tunnels.Go(func() {
			io.Copy(here, there)
			here.Close()
		})
	}))
	defer proxy.Close()
	to, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(far.Certificate())
	pool.AddCert(proxy.Certificate())
	c := client(t, far.URL, by(EngineNet, func(c *Config) { c.Wire.Proxy, c.TLS = http.ProxyURL(to), &tls.Config{RootCAs: pool} }))
	defer c.Close() // before the tunnels are waited for
	for range 2 {
		r := sendCtx(t.Context(), t, c)
		if r.Class != replay.OK || r.NEvents != 2 {
			t.Fatalf("%v %q, %d events", r.Class, r.Reason, r.NEvents)
		}
		if checkOrder(t, &r); r.WriteEnd.V >= r.FirstByte.V {
			t.Errorf("written at %d, the first byte at %d: not by the socket", r.WriteEnd.V, r.FirstByte.V)
		}
	}
}
