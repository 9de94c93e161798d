//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/replay"
)

// limitedReplay runs a replay under a limit of descriptors, and returns its exit
// code and what it said.
func limitedReplay(t *testing.T, limit string, args ...string) (int, string) {
	t.Helper()
	c := exec.Command("sh", append([]string{"-c", `ulimit -n "$0"; exec reprise replay "$@"`, limit}, args...)...)
	c.Env = append(os.Environ(), "NO_COLOR=1")
	out, _ := c.CombinedOutput()
	return c.ProcessState.ExitCode(), string(out)
}

// A client without descriptors does not blame the server: it says so before it
// makes anything, or where they run out later, in the verdict on itself.
func TestNoDescriptors(t *testing.T) {
	dir := t.TempDir()
	url, _ := countingEngine(t)
	spec := filepath.Join(dir, "s.json")
	reprise(t, 0, "spec", "--input", "20", "--output", "300", "--rate", "400", "-o", spec)
	// Three are open at the start whatever the system, so that 34 leave less than a run wants for itself.
	for _, limit := range []string{"14", "20", "34"} {
		results := filepath.Join(dir, "n"+limit)
		code, said := limitedReplay(t, limit, spec, "--for", "1s", "--url", url, "--salt", "1", "-o", results)
		if _, err := os.Stat(results); code != exitFailed || err == nil || !strings.Contains(said, "raise ulimit -n") || strings.Contains(said, "sending") {
			t.Errorf("limit %s: exit %d\n%s", limit, code, said)
		}
	}
	results := filepath.Join(dir, "n90")
	code, said := limitedReplay(t, "90", spec, "--for", "1s", "--url", url, "--salt", "1", "--max-failures", "0", "-o", results)
	d := openResults(t, results)
	if code != exitDistrust || d.Run.Verdict.Verdict != replay.ClientLimited || d.Run.Verdict.Lacking == 0 || !strings.Contains(said, "too many open files here: raise ulimit -n") {
		t.Errorf("exit %d, %+v\n%s", code, d.Run.Verdict, said)
	}
	if out := reprise(t, exitDistrust, "report", results); !strings.Contains(out, "No result: the client could not send all requests") {
		t.Errorf("%s", out)
	}
}
