package openai

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// stampConn notes when each read and write of the socket returned, in ns since
// the client's base. The transport reads and writes in goroutines of its own.
type stampConn struct {
	net.Conn
	base  time.Time
	read  atomic.Int64
	wrote atomic.Int64
	trip  atomic.Pointer[trip] // the request that has the connection
}

func (c *stampConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	at := int64(time.Since(c.base))
	if n > 0 {
		c.read.Store(at)
	}
	return n, err
}

func (c *stampConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	at := int64(time.Since(c.base))
	c.wrote.Store(at)
	if t := c.trip.Load(); t != nil && err == nil {
		t.written(at + t.shift)
	}
	return n, err
}

// stamped finds the stampConn under a connection, nil when there is none.
func stamped(c net.Conn) *stampConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	s, _ := c.(*stampConn)
	return s
}

// writeBuffer is what the transport writes at once.
const writeBuffer = 32 << 10

// newTransport is HTTP/1.1 with a pool that keeps every connection and no cap
// on how many there are. Only opening them is bounded: a stall that leaves no
// idle connection would else make every due request dial at once, and the
// dials the next stall.
func newTransport(c Config, base time.Time) *http.Transport {
	dialer := &net.Dialer{Timeout: c.Connect, KeepAlive: 30 * time.Second}
	turns := make(chan struct{}, c.Dials)
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			select {
			case turns <- struct{}{}:
				defer func() { <-turns }()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &stampConn{Conn: conn, base: base}, nil
		},
		TLSClientConfig:     c.TLS,
		TLSHandshakeTimeout: c.Connect,
		DisableCompression:  true,
		MaxIdleConns:        0,
		// An answer's header has a few hundred bytes; the default takes 10 MB.
		MaxResponseHeaderBytes: 256 << 10,
		MaxIdleConnsPerHost:    1 << 20,
		IdleConnTimeout:        c.IdleConns,
		ReadBufferSize:         16 << 10,
		WriteBufferSize:        writeBuffer,
		Protocols:              protocols,
	}
}
