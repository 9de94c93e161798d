package openai

import (
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"reprise/replay"
)

// An error that came instead of an answer is blamed on whom it is of: this
// machine, the server that took a connection and closed it, or the way there.
func TestTransportFault(t *testing.T) {
	dial := func(call string, code syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError(call, code)}
	}
	for _, c := range []struct {
		err       error
		got, tls  bool
		class     replay.Class
		want, not string
	}{
		{dial("socket", syscall.EMFILE), false, false, replay.Connect, "too many open files here: raise ulimit -n", "127.0.0.1"},
		{&net.OpError{Op: "proxyconnect", Err: dial("socket", syscall.EMFILE)}, false, false, replay.Connect, "too many open files here", "proxy"},
		{dial("connect", syscall.EADDRNOTAVAIL), false, false, replay.Connect, "no port left here", "127.0.0.1"},
		{dial("connect", syscall.ENETUNREACH), false, false, replay.Connect, "no connection to 127.0.0.1:9", "http"},
		{dial("connect", syscall.ECONNRESET), false, false, replay.Connect, "no connection to 127.0.0.1:9", "http"},
		{io.EOF, false, false, replay.Connect, "took the connection and closed it", "no connection"},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, false, false, replay.Connect, "took the connection and closed it", "no connection"},
		{io.EOF, false, true, replay.TLSError, "should the URL begin with http://", "no connection"},
		{io.EOF, true, false, replay.Truncated, "ended before an answer", "http"},
	} {
		f := transportFault(c.err, "127.0.0.1:9", c.got, c.tls)
		if f.class != c.class || !strings.Contains(f.reason, c.want) || strings.Contains(f.reason, c.not) {
			t.Errorf("%v: %v %q", c.err, f.class, f.reason)
		}
	}
}
