package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/replay"
	"reprise/trace"
)

// The causes with which a request's own timer ends it.
var (
	errFirstToken = errors.New("no token within the limit for the first")
	errIdle       = errors.New("no byte within the idle limit")
	errTotal      = errors.New("not over within the total limit")
)

// fault is why a request failed.
type fault struct {
	class    replay.Class
	reason   string
	hopeless bool
}

// errCancelled ends a request from outside.
var errCancelled = errors.New("cancelled")

// endedBy returns the fault of a request that its limits or a cancel ended,
// false when something else did.
func endedBy(err error) (fault, bool) {
	switch err {
	case errFirstToken:
		return fault{class: replay.TimeoutFirstToken, reason: err.Error()}, true
	case errIdle:
		return fault{class: replay.TimeoutIdle, reason: err.Error()}, true
	case errTotal:
		return fault{class: replay.TimeoutTotal, reason: err.Error()}, true
	case errCancelled:
		return fault{class: replay.Cancelled, reason: err.Error()}, true
	}
	return fault{}, false
}

// transportFault classes an error that came instead of an answer. got says
// that a connection was there, secured that its TLS handshake, if any, was.
func transportFault(err error, addr string, got, tlsBroken bool) fault {
	if lack := replay.Lack(err); lack != "" && !got {
		return fault{replay.Connect, lack, false}
	}
	if f, ok := proxyFault(err); ok {
		return f
	}
	if f, ok := tlsFault(err, addr); ok {
		return f
	}
	if tlsBroken && closed(err) {
		return fault{replay.TLSError, addr + " closed the connection in the TLS handshake: should the URL begin with http://?", false}
	}
	if tlsBroken {
		return fault{replay.TLSError, "the TLS handshake with " + addr + " failed", false}
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fault{replay.Connect, "no such host: " + addr, true}
	case errors.As(err, &dns):
		return fault{replay.Connect, "the name of " + addr + " could not be looked up", false}
	case errors.Is(err, syscall.ECONNREFUSED):
		return fault{replay.Connect, "nobody listens at " + addr + " (connection refused): is the server up and the port right?", true}
	case !got && closed(err):
		return fault{replay.Connect, addr + " took the connection and closed it without an answer: should the URL begin with http:// or https://, the other one?", false}
	case !got:
		return fault{replay.Connect, "no connection to " + addr, false}
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return fault{replay.StreamError, "the header of the answer by " + addr + " is larger than 256 KiB", true}
	case unspoken(err):
		return fault{replay.StreamError, addr + " does not speak HTTP/1.1", true}
	}
	return fault{replay.Truncated, "the connection ended before an answer", false}
}

// closed tells that a connection that was there was closed by the server.
func closed(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// unspoken tells an answer that is no HTTP, or none as HTTP must be.
func unspoken(err error) bool {
	for _, sign := range []string{"malformed HTTP", "malformed MIME", "transfer encoding", "Content-Length", "bad trailer key"} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}

func tlsFault(err error, addr string) (fault, bool) {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert *net.OpError
	var host x509.HostnameError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.As(err, &cert), errors.As(err, &host), errors.As(err, &authority):
		return fault{replay.TLSError, "the certificate of " + addr + " is not trusted here", true}, true
	case errors.As(err, &record):
		return fault{replay.TLSError, addr + " does not speak TLS: should the URL begin with http://?", true}, true
	case errors.As(err, &alert) && alert.Op == "remote error":
		// An alert. Of TLS 1.3 that a certificate of ours is wanted comes after the
		// handshake, with the first read.
		return fault{replay.TLSError, fmt.Sprintf("%s refused the TLS handshake (%s)", addr, strings.TrimPrefix(alert.Err.Error(), "tls: ")), false}, true
	}
	return fault{}, false
}

// statusFault classes an HTTP status that is not a success.
func statusFault(code int, message string) fault {
	f := fault{reason: fmt.Sprintf("HTTP %d: %s", code, oneLine(message))}
	switch {
	case code == http.StatusTooManyRequests:
		f.class = replay.HTTP429
	case code == http.StatusServiceUnavailable || code == 529:
		f.class = replay.Overload
	case code >= 500:
		f.class = replay.HTTP5xx
	case code < 300:
		f.class, f.hopeless = replay.StreamError, true
		f.reason = fmt.Sprintf("HTTP %d where 200 is the answer: is the URL right?", code)
	default: // redirects too: following one would measure another place
		f.class = replay.HTTP4xx
		switch code {
		case 401, 403, 404, 405:
			f.hopeless = true
		}
		if code < 400 {
			f.hopeless = true
			f.reason = fmt.Sprintf("HTTP %d: the endpoint redirects: use the URL that it leads to", code)
		}
	}
	return f
}

// plainAtTLS tells the answer of a port that speaks TLS to a request in the clear:
// Go's server, and nginx and those that follow it, give a 400 that says so.
func (c *Client) plainAtTLS(code int, body []byte) bool {
	if code != http.StatusBadRequest || c.target.post.Scheme != "http" {
		return false
	}
	say := strings.ToLower(string(body[:min(len(body), 4<<10)]))
	return strings.Contains(say, "http request to an https server") || strings.Contains(say, "http request was sent to https port")
}

// shouldBeTLS is what to do about it.
func (c *Client) shouldBeTLS() string {
	return c.target.post.Host + " speaks TLS at this port: the URL should begin with https://"
}

// retryAfter reads Retry-After, as seconds or as a date, and retry-after-ms.
// A date counts from the answer's own Date where it has one.
func retryAfter(h fields, now time.Time) trace.Opt[int64] {
	if v, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && v >= 0 && v < 1e12 {
		return trace.Some(int64(v))
	}
	s := strings.TrimSpace(h.Get("Retry-After"))
	if v, err := strconv.ParseFloat(s, 64); err == nil && v >= 0 && v < 1e9 {
		return trace.Some(int64(v * 1000))
	}
	if s == "" {
		return trace.Opt[int64]{}
	}
	at, err := http.ParseTime(s)
	if err != nil {
		return trace.Opt[int64]{}
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return trace.Some(max(at.Sub(now).Milliseconds(), 0))
}
