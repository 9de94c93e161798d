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

// fileLimit returns how many descriptors this process may have, -1 when that is
// not known or there is no limit. The runtime has raised it to what is allowed.
func fileLimit() int64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > 1<<40 {
		return -1
	}
	return int64(l.Cur)
}
