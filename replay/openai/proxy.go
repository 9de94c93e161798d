package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"reprise/replay"
)

// proxyError is a proxy's refusal to open a tunnel.
type proxyError struct{ status int }

func (e *proxyError) Error() string {
	return fmt.Sprintf("the proxy refused a tunnel: HTTP %d", e.status)
}

// tunnel takes a proxy's answer to CONNECT.
func tunnel(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{resp.StatusCode}
}

// proxyFault classes an error on the way to a proxy, or of the proxy itself: it
// says nothing of the endpoint.
func proxyFault(err error) (fault, bool) {
	var refused *proxyError
	var op *net.OpError
	switch {
	case errors.As(err, &refused):
		f := fault{class: replay.Connect, reason: fmt.Sprintf("the proxy refused the connection (HTTP %d)", refused.status)}
		switch refused.status {
		case http.StatusProxyAuthRequired:
			f.reason += ": it wants a user and password (--proxy env:VARIABLE)"
			f.hopeless = true
		case http.StatusForbidden, http.StatusMethodNotAllowed:
			f.hopeless = true
		}
		return f, true
	case errors.As(err, &op) && op.Op == "proxyconnect":
		inner := transportFault(op.Err, "the proxy", false, false)
		return inner, true
	}
	return fault{}, false
}
