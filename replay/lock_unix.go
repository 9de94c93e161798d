//go:build unix

package replay

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the file's lock until the file is closed.
func lockFile(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}
