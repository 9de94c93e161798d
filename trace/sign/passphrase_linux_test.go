package sign

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// With the message on standard input, ssh-keygen asks for the passphrase on
// the terminal and reads it there. The test gives a child of itself a terminal
// of its own and types.
func TestSignPassphraseOnTerminal(t *testing.T) {
	if os.Getenv("SIGN_TEST_KEY") != "" {
		signInChild(t)
		return
	}
	needKeygen(t)
	key, pub := newKey(t, "-t", "ed25519")
	run(t, "ssh-keygen", "-q", "-p", "-a", "1", "-P", "", "-N", "open sesame", "-f", key)
	master, slave := terminal(t)
	out := filepath.Join(t.TempDir(), "sig")
	cmd := exec.Command(os.Args[0], "-test.run=^TestSignPassphraseOnTerminal$", "-test.count=1")
	cmd.Env = append(os.Environ(), "SIGN_TEST_KEY="+key, "SIGN_TEST_OUT="+out, "DISPLAY=", "SSH_ASKPASS=", "SSH_AUTH_SOCK=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	said := answer(master, "passphrase", "open sesame\n")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("child: %v\n%s", err, said)
	}
	if !strings.Contains(said, "passphrase") || strings.Contains(said, "sesame") {
		t.Errorf("no prompt, or the passphrase was echoed: %q", said)
	}
	if _, err := Verify([]byte("m"), read(t, out), parseSigners(t, alice+" "+pub), alice, customer, noon()); err != nil {
		t.Error(err)
	}
}

func signInChild(t *testing.T) {
	sig, err := Sign(t.Context(), os.Getenv("SIGN_TEST_KEY"), customer, []byte("m"), Prompt{Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	write(t, os.Getenv("SIGN_TEST_OUT"), sig)
}

// answer reads until the other side closes and types reply after prompt.
func answer(f *os.File, prompt, reply string) string {
	var said bytes.Buffer
	buf := make([]byte, 1024)
	for typed := false; ; {
		n, err := f.Read(buf)
		said.Write(buf[:n])
		if err != nil { // EIO: the child is gone
			return said.String()
		}
		if !typed && strings.Contains(said.String(), prompt) {
			typed = true
			if _, err := f.WriteString(reply); err != nil {
				return said.String()
			}
		}
	}
}

// terminal opens a pseudo-terminal, see pty(7).
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	m, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { m.Close() })
	var number, unlock int32
	for _, c := range []struct {
		request uintptr
		arg     *int32
	}{{syscall.TIOCSPTLCK, &unlock}, {syscall.TIOCGPTN, &number}} {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, m.Fd(), c.request, uintptr(unsafe.Pointer(c.arg))); e != 0 {
			t.Skipf("SKIPPED: no pseudo-terminals here: %v", e)
		}
	}
	s, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo-terminals here: %v", err)
	}
	return m, s
}
