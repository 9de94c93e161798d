package openai

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"
)

// askStamps asks the kernel to stamp what a socket receives. It is set before
// the connection is made, so that the first bytes have a stamp.
func askStamps(_, _ string, c syscall.RawConn) error {
	// Without stamps the reads are stamped by this process.
	return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
}

// holdStamps keeps the kernel stamping: it starts a moment after the first
// socket asks, and would leave the first answers without. The error says that
// this system has no stamps.
func holdStamps() (release func(), err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return func() { unix.Close(fd) }, nil
}

// kernelStamp finds the stamp among a read's control messages, in Unix ns; 0
// when there is none.
func kernelStamp(oob []byte) int64 {
	for len(oob) >= unix.CmsgLen(0) {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return 0
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS {
			switch {
			case len(data) >= 16:
				return int64(binary.NativeEndian.Uint64(data))*1e9 + int64(binary.NativeEndian.Uint64(data[8:]))
			case len(data) >= 8:
				return int64(binary.NativeEndian.Uint32(data))*1e9 + int64(binary.NativeEndian.Uint32(data[4:]))
			}
		}
		oob = rest
	}
	return 0
}
