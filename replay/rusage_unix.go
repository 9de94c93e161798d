//go:build unix

package replay

import "golang.org/x/sys/unix"

// cpuTime returns the CPU time of this process in ns, -1 when unknown.
func cpuTime() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return -1
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
