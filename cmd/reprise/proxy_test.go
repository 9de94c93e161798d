package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/replay/mock"
	"reprise/replay/mock/engine"
	"reprise/trace"
	"reprise/trace/token"
)

// proxy is a forward proxy: CONNECT opens a tunnel, an absolute URL is fetched.
type proxy struct {
	tunnels, fetches atomic.Int64
	user             string // what Proxy-Authorization must be; empty: none
	forward          httputil.ReverseProxy
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case p.user != "" && r.Header.Get("Proxy-Authorization") != p.user:
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.WriteHeader(http.StatusProxyAuthRequired)
	case r.Method == http.MethodConnect:
		p.tunnels.Add(1)
		p.connect(w, r)
	case r.URL.IsAbs():
		p.fetches.Add(1)
		// Whole first: net/http closes the body of a request whose answer begins,
		// and a transport that still looks for its end drops the connection.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		p.forward.ServeHTTP(w, r)
	default:
		w.WriteHeader(http.StatusBadRequest)
	}
}

func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	to, err := net.Dial("tcp", r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	from, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		to.Close()
		return
	}
	io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() {
		defer from.Close()
		io.Copy(from, to)
	}()
	defer to.Close()
	io.Copy(to, from)
}

func startProxy(t *testing.T, user string) (*proxy, string) {
	t.Helper()
	p := &proxy{user: user, forward: httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, FlushInterval: -1}}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, s.URL
}

// authority is a CA of our own, and certificates of it in files.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.cert, a.key = a.issue(t, "ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue makes a certificate, of the CA itself the first, and puts it into files.
func (a *authority) issue(t *testing.T, name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := keyDER(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{a.file(name, "pem"): {Type: "CERTIFICATE", Bytes: der}, a.file(name, "key"): {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func (a *authority) file(name, kind string) string { return filepath.Join(a.dir, name+"."+kind) }

// engineBehind is a mock engine behind a server, with TLS that wants a client's
// certificate where a is not nil. peers counts requests by the client's name.
func engineBehind(t *testing.T, a *authority) (url string, peers *atomic.Int64) {
	t.Helper()
	tok, err := token.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	law, err := engine.Preset("plain")
	if err != nil {
		t.Fatal(err)
	}
	h, err := mock.NewHandler(mock.DefaultConfig(law, tok))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	peers = new(atomic.Int64)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || r.TLS.PeerCertificates[0].Subject.CommonName == "client" {
			peers.Add(1)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	if a == nil {
		s.Start()
		return s.URL, peers
	}
	a.issue(t, "server", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	a.issue(t, "client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	pair, err := tls.LoadX509KeyPair(a.file("server", "pem"), a.file("server", "key"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots}
	s.StartTLS()
	return s.URL, peers
}

// A replay goes through a proxy and nowhere else: plain HTTP by absolute URLs,
// HTTPS through a tunnel, with our CA and our own certificate.
func TestThroughProxy(t *testing.T) {
	tr := conformance(12, "o200k_base", 32, 64, 6, 100)
	for _, secure := range []bool{false, true} {
		var a *authority
		args := []string{"--slo", "ttft p95 <= 60s at client"}
		if secure {
			a = newAuthority(t)
			args = append(args, "--ca", a.file("ca", "pem"), "--client-cert", a.file("client", "pem"), "--client-key", a.file("client", "key"))
		}
		url, peers := engineBehind(t, a)
		p, through := startProxy(t, "")
		x := replayAt(t, tr, append(args, "--url", url, "--proxy", through)...)
		x.accounted(t)
		x.lengths(t, tr)
		seen, other := p.fetches.Load(), p.tunnels.Load()
		if secure {
			seen, other = other, seen
		}
		if seen == 0 || other != 0 || !secure && seen != peers.Load() || peers.Load() < int64(len(x.rows)) {
			t.Errorf("TLS %v: %d tunnels, %d fetches, %d requests at the engine", secure, p.tunnels.Load(), p.fetches.Load(), peers.Load())
		}
		if len(x.server) == 0 {
			t.Errorf("TLS %v: the metrics were not followed through the proxy", secure)
		}
		host := strings.TrimPrefix(through, "http://")
		if text := strings.Join(x.run.Flags, " "); strings.Contains(text, host) || !strings.Contains(text, "--proxy set") {
			t.Errorf("flags in run.json: %s", text)
		}
		fresh := 0
		for _, r := range x.rows {
			if !r.Reused.V {
				fresh++
				if secure != r.TLS.OK || !r.TCP.OK {
					t.Errorf("TLS %v: a new connection has TCP %v, TLS %v", secure, r.TCP, r.TLS)
				}
			}
		}
		t.Logf("TLS %v: %d tunnels, %d fetches, %d rows on new connections", secure, p.tunnels.Load(), p.fetches.Load(), fresh)
	}
}

// What stands between is named, and not taken for the endpoint.
func TestProxyRefusals(t *testing.T) {
	a := newAuthority(t)
	url, _ := engineBehind(t, a)
	_, open := startProxy(t, "")
	_, locked := startProxy(t, "Basic dTpw") // u:p
	t.Setenv("REPRISE_TEST_PROXY", strings.Replace(locked, "://", "://u:p@", 1))
	dead, err := deadURL()
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"--ca", a.file("ca", "pem"), "--client-cert", a.file("client", "pem"), "--client-key", a.file("client", "key")}
	for _, c := range []struct {
		name string
		args []string
		want string // in the one line of its error; empty: it goes
	}{
		{"user and password", append(all, "--proxy", "env:REPRISE_TEST_PROXY"), ""},
		{"none of them", append(all, "--proxy", locked), "the proxy refused the connection (HTTP 407): it wants a user and password"},
		{"on the command line", append(all, "--proxy", "http://u:p@127.0.0.1:1"), "give it as env:VARIABLE"},
		{"nobody there", append(all, "--proxy", dead), "nobody listens at the proxy"},
		{"another scheme", append(all, "--proxy", "ftp://h"), "want http, https or socks5"},
		{"variable not set", append(all, "--proxy", "env:REPRISE_TEST_NONE"), "is not set"},
		{"no CA", []string{"--proxy", open}, "is not trusted here"},
		{"no certificate of ours", []string{"--ca", a.file("ca", "pem"), "--proxy", open}, "refused the TLS handshake (certificate required)"},
		{"none, without the proxy", []string{"--ca", a.file("ca", "pem")}, "refused the TLS handshake (certificate required)"},
	} {
		path := filepath.Join(t.TempDir(), "t.trace.parquet")
		tr := conformance(2, "o200k_base", 32, 64, 6, 100)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.Write(f, tr.Header, tr.All()); err != nil {
			t.Fatal(err)
		}
		f.Close()
		var talk bytes.Buffer
		to := filepath.Join(t.TempDir(), "run")
		code := run(t.Context(), append([]string{"replay", path, "-o", to, "--url", url}, c.args...), stdio{in: strings.NewReader(""), out: io.Discard, err: &talk})
		switch {
		case c.want == "" && code != 0 && code != exitDistrust, c.want != "" && (code == 0 || !strings.Contains(talk.String(), c.want)), strings.Contains(talk.String(), "u:p"):
			t.Errorf("%s: exit %d\n%s", c.name, code, talk.String())
		}
		if data, err := os.ReadFile(filepath.Join(to, "run.json")); c.want == "" && (err != nil || strings.Contains(string(data), "u:p")) {
			t.Errorf("%s: run.json holds the password, or is not there: %v", c.name, err)
		}
	}
}
