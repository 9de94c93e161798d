package mock

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// wireFront is the mock's own HTTP/1.1 server. Each connection has a goroutine that
// reads; the engine's goroutine writes the tokens of all streams, so that a
// token costs a write and no switch of goroutines.
type wireFront struct {
	h       *Handler
	head    time.Duration // from the first byte of a request to the end of its head
	body    time.Duration // between two reads of a body
	scratch []byte        // of the engine's goroutine

	mu       sync.Mutex
	listener net.Listener
	conns    map[*wireConn]struct{}
	closed   bool
	closing  chan struct{}
	wg       sync.WaitGroup
	number   atomic.Int64
}

func newWireFront(h *Handler) *wireFront {
	return &wireFront{h: h, head: 10 * time.Second, body: time.Minute, conns: map[*wireConn]struct{}{}, closing: make(chan struct{})}
}

func (w *wireFront) serve(l net.Listener) error {
	w.mu.Lock()
	w.listener = l
	closed := w.closed
	w.mu.Unlock()
	if closed {
		return l.Close()
	}
	err := w.accept(l)
	w.close()
	w.wg.Wait()
	return err
}

// accept takes connections until close.
func (w *wireFront) accept(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err == nil {
			w.take(conn)
			continue
		}
		select {
		case <-w.closing:
			return nil
		default:
		}
		if !exhausted(err) {
			return err
		}
		// No file descriptors: some will come back as clients leave.
		select {
		case <-time.After(5 * time.Millisecond):
		case <-w.closing:
			return nil
		}
	}
}

// exhausted tells an error of accepting that passes.
func exhausted(err error) bool {
	var e interface{ Temporary() bool }
	return errors.As(err, &e) && e.Temporary()
}

// take serves a connection on a goroutine of its own.
func (w *wireFront) take(conn net.Conn) {
	c := newWireConn(w, conn)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		_ = conn.Close()
		return
	}
	w.conns[c] = struct{}{}
	w.wg.Go(c.serve)
}

// spawn starts a goroutine that close waits for; false when the server ends.
func (w *wireFront) spawn(f func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.wg.Go(f)
	}
	return !w.closed
}

func (w *wireFront) forget(c *wireConn) {
	w.mu.Lock()
	delete(w.conns, c)
	w.mu.Unlock()
	_ = c.conn.Close() // it may be closed already
}

// close ends the listener and every connection.
func (w *wireFront) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	close(w.closing)
	if w.listener != nil {
		_ = w.listener.Close()
	}
	for c := range w.conns {
		_ = c.conn.Close()
	}
}

// sent notes a token that the kernel has just taken.
func (w *wireFront) sent(due time.Duration) { w.h.late.Add(w.h.driver.Now() - due) }
