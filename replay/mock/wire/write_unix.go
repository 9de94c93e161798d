//go:build unix

package wire

import "syscall"

// writeNow writes what a non-blocking socket takes at once; false when it is
// broken.
func writeNow(fd uintptr, p []byte) (int, bool) {
	for {
		n, err := write(int(fd), p)
		switch err {
		case nil:
			return n, true
		case syscall.EINTR:
		case syscall.EAGAIN:
			return 0, true
		default:
			return 0, false
		}
	}
}
