//go:build unix && !linux

package openai

import "golang.org/x/sys/unix"

// message is a plain read where the kernel gives no stamps.
type message struct{}

func (*message) receive(fd int, p []byte) (n int, stamp int64, err error) {
	n, err = unix.Read(fd, p)
	return n, 0, err
}
