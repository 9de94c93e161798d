//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/replay"
)

// A second interrupt ends the drain and not the process: every request has its
// class, the folder is whole and named, and what reads it is said.
func TestSecondInterrupt(t *testing.T) {
	dir := t.TempDir()
	url, served := countingEngine(t)
	spec, results := filepath.Join(dir, "s.json"), filepath.Join(dir, "run")
	reprise(t, 0, "spec", "--input", "20", "--output", "60000", "--rate", "20", "-o", spec) // a minute each
	c := exec.Command("reprise", "replay", spec, "--for", "10m", "--url", url, "--salt", "1", "--no-headroom", "-o", results)
	c.Env = append(os.Environ(), "NO_COLOR=1")
	var out bytes.Buffer
	c.Stdout = &out
	talk, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	for before := served.Load(); ; time.Sleep(10 * time.Millisecond) { // until the plan's requests are under way
		if _, err := os.Stat(results); err != nil {
			before = served.Load()
		} else if served.Load() > before+5 {
			break
		}
	}
	c.Process.Signal(os.Interrupt)
	var said strings.Builder
	for lines := bufio.NewScanner(talk); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "draining") {
			c.Process.Signal(os.Interrupt)
		}
	}
	c.Wait()
	d := openResults(t, results)
	n := map[string]int64{}
	for _, o := range d.Run.Outcomes {
		n[o.Class] = o.N
	}
	if c.ProcessState.ExitCode() != exitInterrupted || strings.TrimSpace(out.String()) != results || d.Run.Status != replay.Aborted || n["cancelled"] == 0 || n["unsent"] == 0 ||
		!strings.Contains(said.String(), "reprise report "+results) {
		t.Fatalf("exit %d, stdout %q, %s %v\n%s", c.ProcessState.ExitCode(), &out, d.Run.Status, n, &said)
	}
}

// Where nothing is drained the next signal ends the process, and says where the
// results are.
func TestHurry(t *testing.T) {
	var none *hurry
	none.set(func() {}, "x")
	h, cuts := new(hurry), 0
	if h.take() {
		t.Error("there was nothing to end")
	}
	h.set(func() { cuts++ }, "; what was kept is in d")
	if !h.take() || h.take() || cuts != 1 {
		t.Errorf("ended %d times", cuts)
	}
	var said strings.Builder
	if h.leave(&said); said.String() != "\nreprise: ended at once; what was kept is in d\n" {
		t.Errorf("%q", &said)
	}
}
