package replay

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestLimitsTell(t *testing.T) {
	closed, err := NewClosedPlan(untimed(10), []Level{{Concurrency: 8}, {Concurrency: 500}})
	if err != nil {
		t.Fatal(err)
	}
	open := every(1000, 100*time.Millisecond) // 600 in a minute
	for _, c := range []struct {
		name   string
		limits Limits
		plan   *Plan
		each   bool
		sure   bool
		want   string // of the only note, empty for none
	}{
		{"enough", Limits{Files: 2000, Ports: 2000}, closed, false, false, ""},
		{"unknown", Limits{Files: -1, Ports: -1}, closed, true, false, ""},
		{"files", Limits{Files: 500, Ports: -1}, closed, false, true, "500 connections at once are planned and this process can open 468 more files: raise ulimit -n"},
		{"ports", Limits{Files: -1, Ports: 499}, closed, false, true, "the system has 499 ports"},
		{"perhaps", Limits{Files: 1000, Ports: 2000}, open, false, false, "should so many be under way at once"},
		{"none for connections", Limits{Files: 30, Ports: -1}, open, false, true, "can open 30 more files, and a run wants 32 for itself"},
		{"waiting ports", Limits{Files: -1, Ports: 1000}, open, true, false, ""},
		{"too few waiting ports", Limits{Files: 5000, Ports: 600}, open, true, false, "601 within a minute"},
	} {
		notes, sure := c.limits.Tell(c.plan, c.each)
		if said := strings.Join(notes, "\n"); sure != c.sure || (c.want == "") != (said == "") || !strings.Contains(said, c.want) {
			t.Errorf("%s: %v %q", c.name, sure, notes)
		}
	}
}

// The counts are those of this process: a file more is one more.
func TestOpenFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: read from /proc")
	}
	before := openFiles()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if after := openFiles(); before < 3 || after < before || fileLimit() < after {
		t.Errorf("%d files, then %d, of %d", before, after, fileLimit())
	}
	if tcpSockets() < 0 || portLimit() < 1 {
		t.Errorf("%d sockets, %d ports", tcpSockets(), portLimit())
	}
	const stat = "sockets: used 294\nTCP: inuse 12 orphan 0 tw 30 alloc 14 mem 3\nUDP: inuse 1 mem 0\nTCP6: inuse 5\n"
	if n := parseSockets(stat); n != 47 {
		t.Errorf("%d sockets, want 47", n)
	}
	if parseSockets("") != -1 || parsePorts("32768\t60999\n") != 28232 || parsePorts("x") != -1 || parsePorts("9 8") != -1 {
		t.Error("odd files are read")
	}
}
