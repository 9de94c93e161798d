package mock

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// TLS says which certificate to serve. Both names are of PEM files; with both
// empty, a new certificate for localhost signs itself.
type TLS struct {
	Cert, Key string
}

// secure is a loaded certificate, and its PEM.
type secure struct {
	cert tls.Certificate
	pem  []byte
}

func (t *TLS) load() (*secure, error) {
	if t.Cert == "" && t.Key == "" {
		return selfSigned(time.Now())
	}
	text, err := os.ReadFile(t.Cert)
	if err != nil {
		return nil, fmt.Errorf("mock: certificate: %w", err)
	}
	cert, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("mock: certificate %s with key %s: %w", t.Cert, t.Key, err)
	}
	return &secure{cert: cert, pem: text}, nil
}

// selfSigned makes a certificate for this machine that lasts a month.
func selfSigned(now time.Time) (*secure, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("mock: certificate: %w", err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "reprise mock"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 1, 0),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("mock: certificate: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &secure{cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem: text}, nil
}

// netFront is net/http's server: for TLS, HTTP/2, and to compare with.
type netFront struct {
	http   *http.Server
	secure bool
	conns  atomic.Int64
}

// connKey finds the connCount of a connection in a request's context.
type connKey struct{}

// connCount numbers a connection and counts its requests.
type connCount struct {
	number   int64
	requests atomic.Int64
}

func newNetFront(h *Handler, s *secure) *netFront {
	f := &netFront{secure: s != nil}
	f.http = &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, Protocols: new(http.Protocols)}
	f.http.ErrorLog = log.New(io.Discard, "", 0) // it tells of clients that break off, which are no concern here
	f.http.Protocols.SetHTTP1(true)
	f.http.Protocols.SetHTTP2(true)
	f.http.Protocols.SetUnencryptedHTTP2(true)
	f.http.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, &connCount{number: f.conns.Add(1)})
	}
	if s != nil {
		f.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{s.cert}}
	}
	return f
}

func (f *netFront) serve(l net.Listener) error {
	var err error
	if f.secure {
		err = f.http.ServeTLS(l, "", "")
	} else {
		err = f.http.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (f *netFront) close() { _ = f.http.Close() } // its error is serve's
