package openai

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// The engines.
const (
	EngineRaw = "raw" // our own HTTP/1.1, plain or over TLS
	EngineNet = "net" // net/http: HTTP/2, proxies, odd servers
)

// H2C is HTTP/2 without TLS, from the first byte.
const H2C = "h2c"

// Wire says how connections are used. The zero value is the raw engine with
// connections kept, stamped by the kernel where it does.
type Wire struct {
	Engine   string // EngineRaw or EngineNet; empty: raw
	Stamps   string // StampsAuto, StampsKernel, StampsUser; empty: auto
	NewConns bool   // a connection for each request
	// Resend sends a request once more when the server closed a kept connection
	// without a byte of answer. HTTP forbids to do so unasked for a POST, which
	// the server may have carried out (RFC 9110 section 9.2.2, RFC 9112 section
	// 9.3.1): set it only where that does no harm. Such requests are counted.
	Resend bool
	HTTP2  string                                // of the net engine: Auto by TLS's choice, On the same, Off, H2C; empty: Auto
	Proxy  func(*http.Request) (*url.URL, error) // of the net engine; nil: none
	Dial   dialFunc                              // nil: TCP
}

// check fills in defaults and says what does not go together.
func (w *Wire) check(header http.Header) error {
	set := func(v *string, def string) {
		if *v == "" {
			*v = def
		}
	}
	set(&w.Engine, EngineRaw)
	set(&w.Stamps, StampsAuto)
	set(&w.HTTP2, Auto)
	if w.HTTP2 == On {
		w.HTTP2 = Auto
	}
	switch {
	case w.Engine != EngineRaw && w.Engine != EngineNet:
		return fmt.Errorf("the engine is %q, want %s or %s", w.Engine, EngineRaw, EngineNet)
	case w.Engine == EngineRaw && w.Proxy != nil:
		return errors.New("only the net engine goes through a proxy: choose it (--engine net)")
	case w.Engine == EngineRaw && w.HTTP2 == H2C:
		return errors.New("only the net engine speaks HTTP/2: choose it (--engine net)")
	case !slices.Contains([]string{Auto, Off, H2C}, w.HTTP2):
		return fmt.Errorf("http2 is %q, want %s, %s or %s", w.HTTP2, Auto, Off, H2C)
	}
	for name, values := range header {
		if !token([]byte(name)) {
			return errors.New("a header's name has characters that HTTP does not allow there: see --header")
		}
		for _, v := range values {
			if !text([]byte(v)) {
				return fmt.Errorf("the value of the header %s has a control character in it: take it out of the file or variable", name)
			}
		}
	}
	return nil
}

// ownFields are those that the engines write themselves.
var ownFields = []string{"Host", "Content-Length", "Transfer-Encoding", "Trailer", "Connection"}

func sortedNames(h http.Header) []string {
	var names []string
	for name := range h {
		if !slices.Contains(ownFields, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
