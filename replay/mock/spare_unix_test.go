//go:build unix

package mock

import "golang.org/x/sys/unix"

// spareFiles is how many files more this process may open, up to most.
func spareFiles(most int) int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	// Those that are open are counted one by one: nobody says how many a process
	// starts with, nor that they come first.
	spare := 0
	for fd := 0; uint64(fd) < uint64(l.Cur) && spare < most; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			spare++
		}
	}
	return spare
}
