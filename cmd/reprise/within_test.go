package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"reprise/replay"
)

// spoken runs a command line, and returns its exit code, stdout and stderr.
func spoken(ctx context.Context, args ...string) (int, string, string) {
	var out, talk bytes.Buffer
	code := run(ctx, args, stdio{in: strings.NewReader(""), out: &out, err: &talk})
	return code, out.String(), talk.String()
}

func TestWrongFlagsAreUsage(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "s.json")
	if code, _, talk := spoken(t.Context(), "spec", "--input", "20", "--output", "4", "--rate", "5", "-o", spec); code != 0 {
		t.Fatal(talk)
	}
	to := []string{"replay", spec, "--url", "http://127.0.0.1:1"}
	for flag, args := range map[string][]string{
		"--cv":          append(to, "--arrivals", "gamma", "--cv", "-1"),
		"--concurrency": append(to, "--concurrency", "4,0"),
		"--routing":     {"mock", "--routing", "x"},
		"--replicas":    {"mock", "--replicas", "0"},
	} {
		if code, _, talk := spoken(t.Context(), args...); code != exitUsage || !strings.Contains(talk, flag+" is ") || strings.Contains(talk, spec) {
			t.Errorf("%v: exit %d, %s", args, code, talk)
		}
	}
}

// Where results cannot be written that is said before the server is asked
// anything; an interrupt while it is asked is no failure of it.
func TestBeforeTheRun(t *testing.T) {
	dir := t.TempDir()
	spec, asked := filepath.Join(dir, "s.json"), 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		cancel()
		<-r.Context().Done()
	}))
	defer s.Close()
	spoken(t.Context(), "spec", "--input", "20", "--output", "4", "--rate", "5", "-o", spec)
	if runtime.GOOS == "linux" { // nobody may write in /proc
		code, out, talk := spoken(ctx, "replay", spec, "--for", "1s", "--url", s.URL, "-o", "/proc/run")
		if code != exitFailed || out != "" || asked != 0 || !strings.Contains(talk, "/proc/run cannot be made") {
			t.Errorf("exit %d, asked %d times, %s", code, asked, talk)
		}
	}
	code, out, talk := spoken(ctx, "replay", spec, "--for", "1s", "--url", s.URL, "-o", filepath.Join(dir, "run"))
	if code != exitInterrupted || out != "" || asked != 1 || !strings.Contains(talk, "interrupted before the run") {
		t.Errorf("exit %d, asked %d times, %s", code, asked, talk)
	}
}

// The name of a folder that is gone is not printed as that of results.
func TestFolderTakenAway(t *testing.T) {
	var out bytes.Buffer
	o := &replayOptions{output: filepath.Join(t.TempDir(), "gone")}
	err := o.conclude(&stdio{out: &out, err: io.Discard}, &replay.Run{}, nil)
	if err == nil || out.Len() > 0 || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("%v, %q", err, &out)
	}
}
