//go:build unix

package replay

import (
	"os"

	"golang.org/x/sys/unix"
)

// unlocked tells whether nobody holds the file's lock; known is false where the
// file system does not say.
func unlocked(f *os.File) (free, known bool) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err == nil {
		unix.Flock(int(f.Fd()), unix.LOCK_UN)
	}
	return err == nil, err == nil || err == unix.EWOULDBLOCK
}

// lockFile takes the file's lock until the file is closed.
func lockFile(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}
