//go:build !linux

package wire

import (
	"net"
	"syscall"
	"time"
)

// StampListener asks for nothing: there are no receive stamps here.
func StampListener(_, _ string, _ syscall.RawConn) error { return nil }

// StampReader reads a connection.
type StampReader struct{ conn net.Conn }

// NewStampReader reads a connection that a listener under StampListener took.
func NewStampReader(conn net.Conn) *StampReader { return &StampReader{conn: conn} }

// Read waits for bytes; n is 0 at the end of the stream.
func (r *StampReader) Read(p []byte) (int, time.Time, error) {
	n, err := r.conn.Read(p)
	return n, time.Time{}, err
}
