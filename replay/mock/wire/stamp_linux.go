package wire

import (
	"encoding/binary"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// StampListener asks the kernel to stamp what arrives. Accepted connections
// inherit it, so that a request which comes with the handshake has a stamp too.
func StampListener(_, _ string, c syscall.RawConn) error {
	_ = c.Control(func(fd uintptr) { // without stamps the server reads the clock itself
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	return nil
}

// StampReader reads a connection together with the kernel's receive stamps.
type StampReader struct {
	conn net.Conn
	raw  syscall.RawConn // nil where there is none
	oob  [64]byte
	p    []byte
	n    int
	oobn int
	err  error
	try  func(uintptr) bool
}

// NewStampReader reads a connection that a listener under StampListener took.
func NewStampReader(conn net.Conn) *StampReader {
	r := &StampReader{conn: conn}
	if c, ok := conn.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			r.raw = raw
		}
	}
	r.try = func(fd uintptr) bool {
		for {
			r.n, r.oobn, _, _, r.err = unix.Recvmsg(int(fd), r.p, r.oob[:], 0)
			if r.err != unix.EINTR {
				return r.err != unix.EAGAIN
			}
		}
	}
	return r
}

// Read waits for bytes. The stamp is the kernel's of the last segment among
// them, zero when there is none; n is 0 at the end of the stream.
func (r *StampReader) Read(p []byte) (n int, stamp time.Time, err error) {
	if r.raw == nil {
		n, err = r.conn.Read(p)
		return n, time.Time{}, err
	}
	r.p, r.n, r.oobn, r.err = p, 0, 0, nil
	err = r.raw.Read(r.try)
	r.p = nil
	if err == nil {
		err = r.err
	}
	if err != nil {
		return 0, time.Time{}, err
	}
	return r.n, stampIn(r.oob[:r.oobn]), nil
}

// stampIn finds the stamp among control messages.
func stampIn(oob []byte) time.Time {
	for len(oob) >= unix.CmsgLen(0) {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			break
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS {
			return timespec(data)
		}
		oob = rest
	}
	return time.Time{}
}

// timespec reads a struct timespec of either width.
func timespec(b []byte) time.Time {
	switch {
	case len(b) >= 16:
		return time.Unix(int64(binary.NativeEndian.Uint64(b)), int64(binary.NativeEndian.Uint64(b[8:])))
	case len(b) >= 8:
		return time.Unix(int64(binary.NativeEndian.Uint32(b)), int64(binary.NativeEndian.Uint32(b[4:])))
	}
	return time.Time{}
}
