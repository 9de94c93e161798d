package replay

import (
	"errors"
	"net"
	"strings"
	"syscall"
)

// What a request fails by that never left, since this machine had not what a
// connection takes. It says nothing of the server.
const (
	lackFiles  = "too many open files here: raise ulimit -n"
	lackSystem = "too many open files on this machine: raise fs.file-max"
	lackPorts  = "no port left here for another connection: widen net.ipv4.ip_local_port_range or share the load out (--shard)"
	lackMemory = "no memory left here for another connection: give this machine more, or share the load out (--shard)"
)

// lacks are the errors of the client's own machine, and what they are called.
func lacks() map[syscall.Errno]string {
	return map[syscall.Errno]string{syscall.EMFILE: lackFiles, syscall.ENFILE: lackSystem, syscall.EADDRNOTAVAIL: lackPorts,
		syscall.ENOBUFS: lackMemory, syscall.ENOMEM: lackMemory}
}

// Lack returns what this machine lacked when err came, empty when the error is
// another. A Result with that Reason is the client's own failure: see Lags.Judge.
func Lack(err error) string {
	var code syscall.Errno
	if errors.As(err, &code) {
		return lacks()[code]
	}
	// The resolver keeps the text of what it met alone.
	var dns *net.DNSError
	if errors.As(err, &dns) {
		for code, say := range lacks() {
			if code != syscall.EADDRNOTAVAIL && strings.Contains(dns.Err, code.Error()) {
				return say
			}
		}
	}
	return ""
}

// lacking tells that a request failed by what this machine lacked.
func (r *Result) lacking() bool {
	switch r.Reason {
	case lackFiles, lackSystem, lackPorts, lackMemory:
		return r.Class == Connect
	}
	return false
}
