package openai

import (
	"encoding/binary"
	"syscall"
	"unsafe"

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

// message is a receive with room for the kernel's stamp. It is kept from read to
// read, so that none allocates.
type message struct {
	head unix.Msghdr
	vec  unix.Iovec
	oob  [64]byte
}

// receive reads what there is. stamp is in Unix ns, 0 where the kernel gave
// none.
func (m *message) receive(fd int, p []byte) (n int, stamp int64, err error) {
	m.vec.Base = &p[0]
	m.vec.SetLen(len(p))
	m.head.Iov, m.head.Control = &m.vec, &m.oob[0]
	m.head.SetIovlen(1)
	m.head.SetControllen(len(m.oob))
	// The descriptor does not block, so the scheduler need not know: that spares
	// the wake-up of its monitor too, which an idle process would pay each time.
	got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&m.head)), unix.MSG_DONTWAIT)
	m.vec.Base = nil // the buffer goes back to the pool
	if errno != 0 {
		return 0, 0, errno
	}
	return int(got), kernelStamp(m.oob[:m.head.Controllen]), nil
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
