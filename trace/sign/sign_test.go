package sign

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestSignRefuses(t *testing.T) {
	needKeygen(t)
	key, _ := newKey(t, "-t", "ed25519")
	notKey := write(t, filepath.Join(t.TempDir(), "x"), []byte("no key\n"))
	for _, c := range []struct{ path, ns, say string }{
		{key, "", "wrong namespace"},
		{key + "-gone", customer, "does not exist"},
		{filepath.Dir(key), customer, "not a regular file"},
		{notKey, customer, "cannot sign with key"},
		{key, strings.Repeat("n", maxNamespace+1), "namespace is too long"},
	} {
		out, err := Sign(t.Context(), c.path, c.ns, []byte("m"), Prompt{})
		oneLine(t, err)
		if out != nil || err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("want %q, got %v", c.say, err)
		}
	}
}

func TestSignWithoutKeygen(t *testing.T) {
	key := write(t, filepath.Join(t.TempDir(), "key"), []byte("unread"))
	t.Setenv("PATH", t.TempDir())
	_, err := Sign(t.Context(), key, customer, []byte("m"), Prompt{})
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "install the OpenSSH client") {
		t.Errorf("got %v", err)
	}
	oneLine(t, err)
}

// fakeKeygen puts a shell script named ssh-keygen first in PATH.
func fakeKeygen(t *testing.T, script string) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("SKIPPED: no sh to stand in for ssh-keygen")
	}
	d := t.TempDir()
	p := write(t, filepath.Join(d, "ssh-keygen"), []byte("#!/bin/sh\n"+script))
	if err := os.Chmod(p, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", d+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// The command is the documented one, and sees only what it needs of the
// environment.
func TestSignCommand(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	fakeKeygen(t, `(echo "$0"; for a; do echo "[$a]"; done; env) > '`+log+"'\nexit 1\n")
	t.Setenv("SECRET_TOKEN", "hunter2")
	t.Setenv("LD_PRELOAD", "")
	t.Setenv("SSH_AUTH_SOCK", "/nowhere/agent")
	t.Setenv("SSH_ASKPASS", "/nowhere/ask")
	t.Setenv("DISPLAY", ":9")
	key := write(t, filepath.Join(t.TempDir(), "a key; $(x)"), []byte("unread"))
	if _, err := Sign(t.Context(), key, customer, []byte("m"), Prompt{}); err == nil {
		t.Fatal("the stand-in fails, Sign does not")
	}
	got := string(read(t, log))
	path, rest, _ := strings.Cut(got, "\n")
	if !filepath.IsAbs(path) {
		t.Errorf("not run by its absolute path: %s", path)
	}
	if !strings.HasPrefix(rest, "[-Y]\n[sign]\n[-n]\n["+customer+"]\n[-f]\n["+key+"]\n") {
		t.Errorf("arguments: %s", rest)
	}
	for _, want := range []string{"SSH_AUTH_SOCK=/nowhere/agent\n", "SSH_ASKPASS=/nowhere/ask\n", "DISPLAY=:9\n", "PATH="} {
		if !strings.Contains(rest, want) {
			t.Errorf("lost from the environment: %s", want)
		}
	}
	if regexp.MustCompile(`(?m)^(SECRET_TOKEN|LD_PRELOAD|GOCACHE)=`).MatchString(rest) {
		t.Errorf("left in the environment:\n%s", rest)
	}
}

// A stand-in that returns a signature over other bytes or for another
// namespace is caught by the check after signing.
func TestSignChecksItself(t *testing.T) {
	key := softEd25519(1)
	file := write(t, filepath.Join(t.TempDir(), "key"), []byte("unread"))
	sig := filepath.Join(t.TempDir(), "sig")
	fakeKeygen(t, "cat '"+sig+"'\n")
	for _, c := range []struct {
		out  []byte
		want error
	}{
		{key.armored(customer, []byte("m")), nil},
		{key.armored(customer, []byte("other")), ErrBadSignature},
		{key.armored(vendor, []byte("m")), ErrNamespace},
		{[]byte("nothing"), ErrMalformed},
		{softSK(t, typeSKEd25519, 0).armored(customer, []byte("m")), ErrBadSignature},
	} {
		write(t, sig, c.out)
		_, err := Sign(t.Context(), file, customer, []byte("m"), Prompt{})
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("got %v, want %v", err, c.want)
		}
	}
}

// cancelOnWrite cancels when the child says something.
type cancelOnWrite struct {
	io.Writer
	cancel context.CancelFunc
}

func (c cancelOnWrite) Write(p []byte) (int, error) { c.cancel(); return c.Writer.Write(p) }

func TestSignCancelled(t *testing.T) {
	fakeKeygen(t, "echo 'Confirm user presence' >&2\nexec sleep 600\n")
	key := write(t, filepath.Join(t.TempDir(), "key"), []byte("unread"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said bytes.Buffer
	_, err := Sign(ctx, key, customer, []byte("m"), Prompt{Stderr: cancelOnWrite{&said, cancel}})
	if !errors.Is(err, context.Canceled) || said.String() != "Confirm user presence\n" {
		t.Errorf("got %v after %q", err, said.String())
	}
}

// The last line that ssh-keygen says is told, without what could steer a terminal.
func TestSignTellsReason(t *testing.T) {
	fakeKeygen(t, `printf 'first\nagent \033[31mrefused\r\n\n' >&2; exit 255`)
	key := write(t, filepath.Join(t.TempDir(), "key"), []byte("unread"))
	_, err := Sign(t.Context(), key, customer, []byte("m"), Prompt{})
	oneLine(t, err)
	if !strings.Contains(err.Error(), "ssh-keygen: agent ?[31mrefused (exit status 255)") {
		t.Errorf("got %v", err)
	}
}

// An agent signs with the public key file alone.
func TestSignWithAgent(t *testing.T) {
	needKeygen(t)
	if _, err := exec.LookPath("ssh-agent"); err != nil {
		t.Skip("SKIPPED: no ssh-agent in PATH")
	}
	dir, err := os.MkdirTemp("", "agent") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	sock := filepath.Join(dir, "s")
	out := run(t, "ssh-agent", "-s", "-a", sock)
	pid := regexp.MustCompile(`SSH_AGENT_PID=(\d+)`).FindStringSubmatch(out)
	if pid == nil {
		t.Fatalf("no process id in %q", out)
	}
	t.Cleanup(func() {
		c := exec.Command("ssh-agent", "-k")
		c.Env = append(os.Environ(), "SSH_AGENT_PID="+pid[1])
		if err := c.Run(); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("SSH_AUTH_SOCK", sock)
	key, pub := newKey(t, "-t", "ed25519")
	run(t, "ssh-add", "-q", key)
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	checkSigned(t, key+".pub", pub)
}

// A passphrase comes through SSH_ASKPASS where a desktop has one.
func TestSignAskpass(t *testing.T) {
	needKeygen(t)
	key, pub := newKey(t, "-t", "ed25519")
	run(t, "ssh-keygen", "-q", "-p", "-a", "1", "-P", "", "-N", "open sesame", "-f", key)
	ask := write(t, filepath.Join(t.TempDir(), "ask"), []byte("#!/bin/sh\necho open sesame\n"))
	if err := os.Chmod(ask, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSH_ASKPASS", ask)
	t.Setenv("SSH_ASKPASS_REQUIRE", "force")
	t.Setenv("DISPLAY", ":9")
	checkSigned(t, key, pub)
}

func checkSigned(t *testing.T, path, pub string) {
	t.Helper()
	message := []byte("m")
	sig, err := Sign(t.Context(), path, customer, message, Prompt{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(message, sig, parseSigners(t, alice+" "+pub), alice, customer, noon()); err != nil {
		t.Error(err)
	}
}

// The demo's road: make a key, list it, sign, verify here and with ssh-keygen.
func TestGenerateListSign(t *testing.T) {
	needKeygen(t)
	path := filepath.Join(t.TempDir(), "demo key")
	if err := GenerateKey(t.Context(), path, "demo; not for use"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("private key: %v, %v", info, err)
	}
	before := read(t, path)
	err := GenerateKey(t.Context(), path, "again")
	if !errors.Is(err, os.ErrExist) || !bytes.Equal(before, read(t, path)) {
		t.Errorf("overwrote a key: %v", err)
	}
	line, err := AllowedLine(read(t, path+".pub"), alice, customer)
	if err != nil {
		t.Fatal(err)
	}
	message := []byte("demo")
	sig, err := Sign(t.Context(), path, customer, message, Prompt{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(message, sig, parseSigners(t, line), alice, customer, noon()); err != nil {
		t.Error(err)
	}
	if err := stockVerify(t, message, sig, line, alice, customer, noon()); err != nil {
		t.Errorf("ssh-keygen: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := GenerateKey(t.Context(), path, "x"); !errors.Is(err, os.ErrExist) {
		t.Errorf("overwrote a public key: %v", err)
	}
	for _, c := range []struct{ path, comment string }{{"", "x"}, {path + "2", "a\nb"}, {filepath.Join(path, "no", "dir"), ""}} {
		oneLine(t, GenerateKey(t.Context(), c.path, c.comment))
	}
}

func TestAllowedLine(t *testing.T) {
	key := softEd25519(1)
	pub := []byte(key.line() + " some comment\n")
	got, err := AllowedLine(pub, alice, customer, vendor)
	want := alice + ` namespaces="` + customer + "," + vendor + `" ` + key.line() + "\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err = AllowedLine(pub, alice); err != nil || got != alice+" "+key.line()+"\n" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, c := range []struct{ pub, principal, ns string }{
		{string(pub), "", ns}, {string(pub), "a b", ns}, {string(pub), "a,b", ns}, {string(pub), "*", ns},
		{string(pub), "!a", ns}, {string(pub), "#a", ns}, {string(pub), "a\n", ns}, {string(pub), `"a"`, ns},
		{string(pub), "a", ""}, {string(pub), "a", "x,y"}, {string(pub), "a", "*"}, {string(pub), "a", `x"`},
		{"", "a", ns}, {"ssh-ed25519", "a", ns}, {"ssh-ed25519 AAAA", "a", ns}, {"ssh-dss AAAA", "a", ns},
		{"-----BEGIN OPENSSH PRIVATE KEY-----\nx", "a", ns}, {string(pub) + string(pub), "a", ns},
		{"ssh-ed25519-cert-v01@openssh.com AAAA", "a", ns},
	} {
		line, err := AllowedLine([]byte(c.pub), c.principal, c.ns)
		oneLine(t, err)
		if line != "" {
			t.Errorf("made %q", line)
		}
	}
}
