package replay

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What this machine lacks is told from what the server did, through the errors
// that the net package makes of it.
func TestLack(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)}, "raise ulimit -n"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.ENFILE)}, "fs.file-max"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)}, "no port left here"},
		{os.NewSyscallError("socket", syscall.ENOBUFS), "no memory left here"},
		{fmt.Errorf("x: %w", syscall.ENOMEM), "no memory left here"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "dial udp 127.0.0.1:53: socket: too many open files", Name: "h"}}, "raise ulimit -n"},
		{os.NewSyscallError("connect", syscall.ECONNREFUSED), ""},
		{&net.DNSError{Err: "no such host", IsNotFound: true}, ""},
		{errors.New("EOF"), ""},
	} {
		if got := Lack(c.err); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

// One request that this machine could not send makes the client limited,
// whatever the others' lag; the server's refusals do not.
func TestJudgeLacking(t *testing.T) {
	var l Lags
	for range 1000 {
		l.Add(streamed(10, 10))
	}
	l.Add(&Result{Phase: Measure, Class: Connect, Reason: "nobody listens", Dispatch: some[int64](0)})
	if v := l.Verdict(); v.Verdict != Clean || v.Lacking != 0 {
		t.Fatalf("%+v", v)
	}
	l.Add(&Result{Phase: Measure, Class: Connect, Reason: lackFiles, Dispatch: some[int64](0)})
	if v := l.Verdict(); v.Verdict != ClientLimited || v.Lacking != 1 || !strings.Contains(v.Reason, "1 requests could not be sent from here: too many open files here: raise ulimit -n") {
		t.Fatalf("%+v", v)
	}
}

func TestBreakerLacking(t *testing.T) {
	b := breaker{first: 20, row: 3}
	var err error
	for range 3 {
		err = b.add(&Result{Class: Connect, Reason: lackFiles})
	}
	if !errors.Is(err, ErrLacking) || errors.Is(err, ErrBroken) {
		t.Fatal(err)
	}
}

// A directory that cannot be filled is not left behind.
func TestCreateDirLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, LedgerFile), 0o755); err != nil { // so that the ledger cannot be opened
		t.Fatal(err)
	}
	path := filepath.Join(dir, "run")
	if _, err := CreateDir(path, runOf(1, Running)); err == nil {
		t.Fatal("no error")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("left: %v", err)
	}
}
