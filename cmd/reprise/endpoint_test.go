package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/replay/openai"
	"reprise/trace"
	"reprise/trace/token"
)

func TestHeadersFromEnvironmentAndFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("REPRISE_TEST_HEADER", "from the environment")
	h, err := readHeaders([]string{"x-a=env:REPRISE_TEST_HEADER", "x-b=file:" + path, "x-c=REPRISE_TEST_HEADER"})
	if err != nil || h.Get("X-A") != "from the environment" || h.Get("X-B") != "from a file" || h.Get("X-C") != h.Get("X-A") {
		t.Fatal(h, err)
	}
	for bad, want := range map[string]string{"x": "--header", "x=": "--header", "=env:A": "--header", "x-d=env:REPRISE_NOT_SET": "--header x-d: that variable",
		"x-d=file:" + path + ".no": "--header x-d=file:", "x-d=sk-0123456789": "--header x-d: a value may not stand here"} {
		if _, err := readHeaders([]string{bad}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-0123456789") {
			t.Errorf("%q: want %q, got %v", bad, want, err)
		}
	}
}

// A trace with adapters is refused by name until each has one at the endpoint.
func TestAdaptersMustBeNamed(t *testing.T) {
	tr := &trace.Trace{Requests: []trace.Request{{Adapter: "b"}, {ID: 1}, {ID: 2, Adapter: "a"}, {ID: 3, Adapter: "b"}}}
	for _, c := range []struct {
		flags []string
		want  string
	}{{nil, "a (row 2), b (row 0)"}, {[]string{"a=x"}, "endpoint: b"}, {[]string{"a"}, "ALIAS=NAME"}, {[]string{"a="}, "ALIAS=NAME"}, {[]string{"a=x", "b=y", "a=z"}, "a twice"}, {[]string{"a=x", "b=y=z"}, ""}} {
		names, err := (&endpointFlags{adapters: c.flags}).adapterNames(tr)
		if c.want == "" && (err != nil || names["b"] != "y=z") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, %v", c.flags, names, err)
		}
	}
}

func TestAdaptersMustBeOfTheTrace(t *testing.T) {
	tr := &trace.Trace{Requests: []trace.Request{{Adapter: "b"}, {}}}
	if err := (&endpointFlags{adapters: []string{"b=x"}}).known(tr); err != nil {
		t.Error(err)
	}
	if err := (&endpointFlags{adapters: []string{"b=x", "c=y"}}).known(tr); err == nil || !strings.Contains(err.Error(), "--adapter c=y") {
		t.Error(err)
	}
}

// The certificates of the flags are those of the handshake, on either side.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	var seen int
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen = len(r.TLS.PeerCertificates) }))
	srv.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	srv.StartTLS()
	defer srv.Close()
	cert := srv.TLS.Certificates[0]
	ca, key := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "key.pem")
	write := func(path, kind string, der []byte) {
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(ca, "CERTIFICATE", cert.Certificate[0])
	der, err := keyDER(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write(key, "PRIVATE KEY", der)
	conf, err := (&endpointFlags{ca: ca, cert: ca, key: key}).tls()
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: conf}}
	if resp, err := client.Get(srv.URL); err != nil || seen != 1 {
		t.Fatalf("%v, %d certificates of the client", err, seen)
	} else {
		resp.Body.Close()
	}
	if conf, err := (&endpointFlags{}).tls(); conf != nil || err != nil {
		t.Error("without flags the system's settings hold")
	}
	for _, bad := range []endpointFlags{{ca: key}, {cert: ca}, {cert: ca, key: ca}, {ca: filepath.Join(dir, "no")}} {
		if _, err := bad.tls(); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// The closing sentence has one length behind any words, in every tokenizer that
// we have; templates of ours are split before and behind the text.
func TestClosingAndTemplate(t *testing.T) {
	for _, name := range token.Names() {
		tok, err := token.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := token.NewText(tok, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := closing(tok, text.WithSalt(9))
		words := string(text.AppendBlock(nil, 77, 40))
		if c.Tokens < 5 || tok.Count(words+c.Text) != 40+int(c.Tokens) {
			t.Errorf("%s: %+v", name, c)
		}
		l, err := (&endpointFlags{template: "chatml"}).layout(&trace.Trace{}, text, tok, name)
		if err != nil || l != nil && (l.Front < 1 || l.Back < 1) {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
}

// The key goes to the metrics of the endpoint's own host, and to no other.
func TestMetricsGetNoKey(t *testing.T) {
	var auth []string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth = append(auth, r.Header.Get("Authorization"))
		w.Write([]byte("vllm:num_requests_running 1\n"))
	})
	own, other := httptest.NewServer(h), httptest.NewServer(h)
	defer own.Close()
	defer other.Close()
	tok, err := token.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	text, err := token.NewText(tok, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPrompts(text, &trace.Trace{Header: trace.Header{BlockTokens: 16}}, replay.CacheKeep, 0)
	if err != nil {
		t.Fatal(err)
	}
	client, err := openai.New(openai.Config{URL: own.URL, Model: "m", Key: "sk-secret", Prompter: p})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, url := range []string{"", own.URL + "/x/metrics", other.URL} {
		if w, err := (&endpointFlags{metrics: url}).watch(t.Context(), &stdio{err: &strings.Builder{}}, client); w == nil || err != nil {
			t.Fatal(w, err)
		}
	}
	if strings.Join(auth, "|") != "Bearer sk-secret|Bearer sk-secret|" {
		t.Errorf("%q", auth)
	}
}

// keyDER is a private key in PKCS #8.
func keyDER(key any) ([]byte, error) { return x509.MarshalPKCS8PrivateKey(key) }
