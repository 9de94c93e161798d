//go:build !linux

package mock

import (
	"net"
	"syscall"
	"time"
)

// stampListener asks for nothing: there are no receive stamps here.
func stampListener(_, _ string, _ syscall.RawConn) error { return nil }

// stampReader reads a connection.
type stampReader struct{ conn net.Conn }

func newStampReader(conn net.Conn) *stampReader { return &stampReader{conn: conn} }

// read waits for bytes; n is 0 at the end of the stream.
func (r *stampReader) read(p []byte) (int, time.Time, error) {
	n, err := r.conn.Read(p)
	return n, time.Time{}, err
}
