package openai

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"time"
)

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialer opens sockets that the kernel stamps.
func (c *Client) dialer() dialFunc {
	if c.cfg.Wire.Dial != nil {
		return c.cfg.Wire.Dial
	}
	d := &net.Dialer{Timeout: c.cfg.Connect, KeepAlive: 30 * time.Second, Control: askStamps}
	return d.DialContext
}

// capped lets at most n dials run at one time: a stall that leaves no idle
// connection would else make every due request dial at once, and the dials the
// next stall. The raw engine's pool does so itself.
func capped(dial dialFunc, n int) dialFunc {
	turns := make(chan struct{}, n)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return dial(ctx, network, addr)
	}
}

// open makes a connection of the raw engine, TLS included. t, which may be
// nil, takes the times of its phases.
func (e *rawEngine) open(ctx context.Context, t *trip) (*rawConn, error) {
	if t != nil {
		h := t.hooks()
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{DNSStart: h.DNSStart, DNSDone: h.DNSDone, ConnectStart: h.ConnectStart, ConnectDone: h.ConnectDone})
	}
	conn, err := e.dial(ctx, "tcp", e.addr)
	if err != nil {
		return nil, err
	}
	if e.tls == nil {
		if s := e.loops.adopt(conn); s != nil {
			return &rawConn{sock: s}, nil
		}
	}
	c := &rawConn{tap: newTap(conn, e.client.stamps)}
	c.conn = c.tap
	if e.tls == nil {
		return c, nil
	}
	secure := tls.Client(c.tap, e.tls)
	ctx, cancel := context.WithTimeout(ctx, e.client.cfg.Connect)
	defer cancel()
	if t != nil {
		t.begin(&t.tls)
		t.handshake(true, nil)
	}
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		if t != nil {
			t.handshake(false, err)
		}
		return nil, err
	}
	if t != nil {
		t.end(&t.tls)
		t.handshake(false, nil)
	}
	c.conn, c.secure = secure, true
	return c, nil
}
