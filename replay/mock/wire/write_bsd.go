//go:build unix && !linux

package wire

import "syscall"

func write(fd int, p []byte) (int, error) { return syscall.Write(fd, p) }
