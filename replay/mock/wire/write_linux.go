package wire

import (
	"syscall"
	"unsafe"
)

// rawWrite is how long a write may be to pass the scheduler by.
const rawWrite = 16 << 10

// write is that of a non-blocking socket. A token is written without a word to
// the scheduler: it would take the write for a long one, and hand the engine's
// place to another goroutine in the middle of a burst.
func write(fd int, p []byte) (int, error) {
	if len(p) == 0 || len(p) > rawWrite {
		return syscall.Write(fd, p)
	}
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
