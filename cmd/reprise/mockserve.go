package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"reprise/replay/mock"
)

// serveOptions are how the mock serves and what it keeps of that.
type serveOptions struct {
	record string
	tls    string
	http2  bool
}

func (o *serveOptions) register(c *cobra.Command) {
	c.Flags().StringVar(&o.record, "record", "", "write what arrived as a trace when it stops; the connections go beside it, to FILE.arrivals.jsonl")
	c.Flags().StringVar(&o.tls, "tls", "", "serve TLS, HTTP/2 included: CERT,KEY (PEM files), or self for a certificate that signs itself")
	c.Flags().BoolVar(&o.http2, "http2", false, "serve HTTP/2 in the clear beside HTTP/1.1; like TLS it takes the slower server")
}

// apply puts the options into a configuration.
func (o *serveOptions) apply(cfg *mock.Config) error {
	cfg.Record, cfg.NetHTTP = o.record != "", o.http2
	if o.tls == "" {
		return nil
	}
	cfg.TLS = &mock.TLS{}
	if o.tls == "self" {
		return nil
	}
	cert, key, ok := strings.Cut(o.tls, ",")
	if !ok || cert == "" || key == "" {
		return usagef("--tls is %q, give CERT,KEY or self", o.tls)
	}
	cfg.TLS.Cert, cfg.TLS.Key = cert, key
	return nil
}

// keep writes the recording, if there is to be one.
func (o *serveOptions) keep(s *stdio, srv *mock.Server) error {
	if o.record == "" {
		return nil
	}
	t, err := srv.Recording()
	if err != nil {
		return err
	}
	arrivals, err := srv.Arrivals()
	if err != nil {
		return err
	}
	t.Header.Tool = version()
	if err := s.writeTrace(o.record, t); err != nil {
		return err
	}
	beside := strings.TrimSuffix(o.record, ".trace.parquet") + ".arrivals.jsonl"
	s.talk("recorded %d requests: %s, %s", len(t.Requests), o.record, beside)
	return s.write(beside, 0o600, false, func(w io.Writer) error { return mock.WriteArrivals(w, arrivals) })
}
