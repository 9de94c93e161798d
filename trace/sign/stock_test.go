package sign

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// needKeygen skips, aloud, where OpenSSH is not installed.
func needKeygen(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("SKIPPED: ssh-keygen is not in PATH, nothing was checked against OpenSSH")
	}
}

func write(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// run runs an OpenSSH tool and returns what it printed, or fails.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// newKey makes a key pair with ssh-keygen and returns its path and .pub line.
func newKey(t testing.TB, args ...string) (path, pub string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "key")
	run(t, "ssh-keygen", append([]string{"-q", "-N", "", "-C", "a comment", "-f", path}, args...)...)
	return path, strings.TrimSpace(string(read(t, path+".pub")))
}

// stockVerify asks `ssh-keygen -Y verify`, in time zone EST5.
func stockVerify(t testing.TB, message, sig []byte, signers, principal, ns string, at time.Time) error {
	t.Helper()
	d := t.TempDir()
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-n", ns, "-I", principal,
		"-Overify-time="+at.UTC().Format("20060102150405Z"),
		"-f", write(t, filepath.Join(d, "signers"), []byte(signers)), "-s", write(t, filepath.Join(d, "sig"), sig))
	cmd.Env = append(os.Environ(), "TZ=EST5")
	cmd.Stdin = bytes.NewReader(message)
	return cmd.Run()
}

// stockPrincipals asks `ssh-keygen -Y find-principals`.
func stockPrincipals(t testing.TB, sig []byte, signers string, at time.Time) string {
	t.Helper()
	d := t.TempDir()
	cmd := exec.Command("ssh-keygen", "-Y", "find-principals",
		"-Overify-time="+at.UTC().Format("20060102150405Z"),
		"-f", write(t, filepath.Join(d, "signers"), []byte(signers)), "-s", write(t, filepath.Join(d, "sig"), sig))
	cmd.Env = append(os.Environ(), "TZ=EST5")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
