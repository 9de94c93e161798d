package sign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Prompt is where ssh-keygen talks to a person. What it says (touch the key,
// what went wrong) goes to Stderr, nil for nowhere; it asks for passphrases on
// the terminal itself, or through SSH_ASKPASS where there is none.
type Prompt struct {
	Stderr io.Writer
}

// killDelay is how long an interrupted ssh-keygen may take to give the
// terminal its echo back before it is killed.
const killDelay = 2 * time.Second

// Sign runs `ssh-keygen -Y sign -n namespace -f keyPath` over message and
// returns the armored signature. keyPath is a private key, or a public one
// whose private half an agent holds. The result has been read back and checked
// against message, so what Sign returns Verify reads.
func Sign(ctx context.Context, keyPath, namespace string, message []byte, stdio Prompt) ([]byte, error) {
	if namespace == "" {
		return nil, namespaceError("none was given to sign for")
	}
	if err := isFile(keyPath); err != nil {
		return nil, err
	}
	out, err := keygen(ctx, message, stdio.Stderr, "-Y", "sign", "-n", namespace, "-f", keyPath)
	if err != nil {
		return nil, fmt.Errorf("cannot sign with key %s: %w", keyPath, err)
	}
	e, err := open(out)
	if err == nil && e.namespace != namespace {
		err = namespaceError("ssh-keygen signed for another one")
	}
	if err == nil {
		err = e.check(message)
	}
	if err != nil {
		return nil, fmt.Errorf("the signature just made with key %s would be refused: %w", keyPath, err)
	}
	return out, nil
}

func isFile(keyPath string) error {
	info, err := os.Stat(keyPath)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("key file %q does not exist; name a private key, or the .pub file of a key in your ssh agent: %w", keyPath, os.ErrNotExist)
	case err != nil:
		return fmt.Errorf("key file cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("key file %q is not a regular file", keyPath)
	}
	return nil
}

// keygen runs ssh-keygen without a shell and returns its standard output. The
// error carries the last line that it said.
func keygen(ctx context.Context, stdin []byte, stderr io.Writer, args ...string) ([]byte, error) {
	path, err := exec.LookPath("ssh-keygen")
	if err != nil {
		return nil, fmt.Errorf("ssh-keygen was not found in PATH; install the OpenSSH client: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if stderr == nil {
		stderr = io.Discard
	}
	var out bytes.Buffer
	said := &tail{}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), dropped)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(said, stderr)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killDelay
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("ssh-keygen: %s (%w)", said.lastLine(), err)
	}
	return out.Bytes(), nil
}

// dropped says whether ssh-keygen does without this environment entry. What
// stays is what agents, passphrase windows and hardware keys need.
func dropped(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	switch strings.ToUpper(name) {
	case "PATH", "HOME", "SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "SSH_SK_PROVIDER",
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
		"SYSTEMROOT", "USERPROFILE":
		return false
	}
	return true
}

// tail keeps the end of what was written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	const keep = 1 << 10
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-keep):]
	return len(p), nil
}

// lastLine returns the last line that is not empty, fit for a terminal.
func (t *tail) lastLine() string {
	lines := strings.FieldsFunc(string(t.b), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return "no reason given"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, lines[len(lines)-1])
}
