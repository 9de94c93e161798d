package mock

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// faultListener wraps the connections that a fault takes hold of. It lies below
// TLS.
type faultListener struct {
	net.Listener
	faults *faults
	now    func() time.Duration // since the server's start
}

// listener watches connections where a fault is of them.
func (f *faults) listener(l net.Listener, now func() time.Duration) net.Listener {
	if !f.onConns() {
		return l
	}
	return &faultListener{Listener: l, faults: f, now: now}
}

// Accept returns the next connection; those with a fault are wrapped.
func (l *faultListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	wait, broken := l.faults.connection(l.now())
	if wait == 0 && !broken {
		return c, nil
	}
	return &faultConn{Conn: c, wait: wait, broken: broken, closed: make(chan struct{})}, nil
}

// faultConn is a connection that is first read late, or whose TLS handshake
// fails.
type faultConn struct {
	net.Conn
	wait   time.Duration
	broken bool
	begin  sync.Once
	end    sync.Once
	closed chan struct{}
}

var errHandshake = errors.New("mock: a fault broke the TLS handshake")

// Read waits before it first reads; a broken one then answers the client's
// hello by an alert.
func (c *faultConn) Read(p []byte) (int, error) {
	c.begin.Do(c.pause)
	if !c.broken {
		return c.Conn.Read(p)
	}
	// The hello is read, since closing on unread bytes would reset the connection.
	if _, err := io.ReadAtLeast(c.Conn, make([]byte, 1<<14), 1); err != nil {
		return 0, err
	}
	const fatal, handshakeFailure = 2, 40 // RFC 8446 §6
	_, _ = c.Conn.Write([]byte{21, 3, 3, 0, 2, fatal, handshakeFailure})
	_ = c.Close()
	return 0, errHandshake
}

func (c *faultConn) pause() {
	if c.wait == 0 {
		return
	}
	t := time.NewTimer(c.wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.closed:
	}
}

// Close ends the wait too.
func (c *faultConn) Close() error {
	c.end.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
