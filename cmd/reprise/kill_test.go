package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/replay"
	"reprise/replay/mock"
	"reprise/replay/mock/engine"
	"reprise/replay/report"
	"reprise/trace/token"
)

// TestKill9: a replay that gets SIGKILL leaves results that report reads: rows
// that are whole, and an account of every request that was planned.
func TestKill9(t *testing.T) {
	dir := t.TempDir()
	url, served := countingEngine(t)
	trace := filepath.Join(dir, "t.trace.parquet")
	reprise(t, 0, "spec", "--input", "50", "--output", "4", "--rate", "100", "-o", filepath.Join(dir, "s.json"))
	reprise(t, 0, "synth", filepath.Join(dir, "s.json"), "--for", "10m", "-o", trace)

	results := filepath.Join(dir, "run")
	var talk bytes.Buffer
	c := exec.Command("reprise", "replay", trace, "--url", url, "--salt", "1", "-o", results)
	c.Stderr = &talk
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	killed := make(chan struct{})
	go func() {
		c.Wait()
		close(killed)
	}()
	defer c.Process.Kill()
	seen := untilSpooled(t, results, 150, killed, &talk)
	live := openResults(t, results)
	if live.Run.Status != replay.Running {
		t.Errorf("a run whose process lives is %s", live.Run.Status)
	}
	if err := c.Process.Kill(); err != nil { // SIGKILL
		t.Fatal(err)
	}
	<-killed

	d := openResults(t, results)
	rows := map[int64]bool{}
	for r, err := range d.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		if rows[r.Row] || r.Class != replay.OK || r.OutUsage.V != r.OutAsked.V || int(r.NEvents) != len(r.Gaps)+1 || !r.End.OK || r.End.V < r.Sched {
			t.Fatalf("a row that is not whole: %+v", r)
		}
		rows[r.Row] = true
	}
	if d.Run.Status != replay.Killed || len(rows) < seen || int64(len(rows)) > served.Load() {
		t.Fatalf("status %s, %d rows, %d were in the spool before and the server was asked %d times", d.Run.Status, len(rows), seen, served.Load())
	}
	for row := range int64(len(rows)) - 20 { // answers may overtake each other by a few
		if !rows[row] {
			t.Errorf("row %d of %d is lost", row, len(rows))
		}
	}
	killAccount(t, results, d.Run.Planned, int64(len(rows)))
}

// killAccount checks what report says of a run that was killed.
func killAccount(t *testing.T, results string, planned, rows int64) {
	t.Helper()
	var r report.Report
	if err := json.Unmarshal([]byte(reprise(t, exitDistrust, "report", results, "--format", "json")), &r); err != nil {
		t.Fatal(err)
	}
	s := r.Summaries[0]
	sum := s.Load.Missing
	for _, o := range s.Outcomes {
		sum += o.N
	}
	if sum != planned || s.Load.Planned != planned || s.Load.OK != rows || s.Load.Missing != planned-rows {
		t.Errorf("planned %d is not %d: %+v %+v", planned, sum, s.Load, s.Outcomes)
	}
	text := strings.Join(strings.Fields(reprise(t, exitDistrust, "report", results)), " ")
	for _, want := range []string{"it was killed", "requests have no result", "without a result", "all but those of the last second", "= the sum"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
}

// countingEngine is a mock engine that says how often it was asked for an
// answer.
func countingEngine(t *testing.T) (url string, served *atomic.Int64) {
	t.Helper()
	law, err := engine.Preset("plain")
	if err != nil {
		t.Fatal(err)
	}
	law.Plain = &engine.Plain{TTFT: 2000, ITL: 1000}
	tok, err := token.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	h, err := mock.NewHandler(mock.DefaultConfig(law, tok))
	if err != nil {
		t.Fatal(err)
	}
	served = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			served.Add(1)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close(); h.Close() })
	return s.URL, served
}

// untilSpooled waits until the spool of a run has so many results, and returns
// how many it has.
func untilSpooled(t *testing.T, results string, n int64, ended <-chan struct{}, talk *bytes.Buffer) int {
	t.Helper()
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(2*time.Minute)
	defer tick.Stop()
	for {
		if d, err := replay.OpenDir(results); err == nil {
			rows := d.Rows
			d.Close()
			if rows >= n {
				return int(rows)
			}
		}
		select {
		case <-tick.C:
		case <-ended:
			t.Fatalf("the replay ended by itself: %s", talk)
		case <-limit:
			t.Fatal("the spool does not grow")
		}
	}
}

func openResults(t *testing.T, path string) *replay.Dir {
	t.Helper()
	d, err := replay.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// reprise runs the command as a user does, and checks its exit code.
func reprise(t *testing.T, code int, args ...string) string {
	t.Helper()
	c := exec.Command("reprise", args...)
	c.Env = append(os.Environ(), "NO_COLOR=1")
	var out, talk bytes.Buffer
	c.Stdout, c.Stderr = &out, &talk
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == code || err == nil && code == 0 {
		return out.String()
	}
	t.Fatalf("reprise %s: %v, want exit %d\n%s", strings.Join(args, " "), err, code, &talk)
	return ""
}
