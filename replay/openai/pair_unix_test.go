//go:build unix

package openai

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// overPair joins a client and its server by sockets: what reads them is what
// reads TCP, but for the kernel's stamps.
func overPair() (here, there net.Conn) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		panic(err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "pair")
		if ends[i], err = net.FileConn(f); err != nil {
			panic(err)
		}
		f.Close()
	}
	return ends[0], ends[1]
}
