package replay

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// spoolFull keeps results until the run must end, and one more.
func spoolFull(t *testing.T, w *Writer, rng func(row int64) Result) (kept int64) {
	t.Helper()
	for row := int64(0); row < 100_000; row++ {
		if w.Result(rng(row)) == nil {
			kept++
		}
		if err := w.full(); err != nil {
			if !errors.Is(err, ErrNoRoom) || !strings.Contains(err.Error(), w.path) {
				t.Fatal(err)
			}
			return kept
		}
	}
	t.Fatal("the spool never ends")
	return 0
}

func rowsFrom() func(row int64) Result {
	r := rng()
	return func(row int64) Result { return randomResult(r, row) }
}

// Where the spool may not grow, the results before that are kept, and run.json
// and the ledger say why the run ended; nobody takes it for killed.
func TestSpoolMayNotGrow(t *testing.T) {
	dir := t.TempDir()
	w, err := CreateDir(filepath.Join(dir, "run"), runOf(100_000, Running))
	if err != nil {
		t.Fatal(err)
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 200_000, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_FSIZE, &before)
	rows := rowsFrom()
	spoolFull(t, w, rows)
	end := runOf(100_000, Aborted)
	if err := w.Finish(end); !errors.Is(err, ErrNoRoom) || strings.Count(err.Error(), "file too large") != 1 {
		t.Fatal(err)
	}
	d, err := OpenDir(w.path)
	if err != nil || d.Run.Status != Killed || d.Rows == 0 || !strings.Contains(d.Run.AbortReason, "no room left for the results") {
		t.Fatalf("%v %+v", err, d)
	}
	defer d.Close()
	data, _ := os.ReadFile(filepath.Join(dir, LedgerFile))
	lines, err := ReadLedger(data)
	if err != nil || len(lines) != 2 || lines[1].Status != Aborted || lines[1].Reason != d.Run.AbortReason {
		t.Fatalf("%v %+v", err, lines)
	}
}

// On a full disk the room kept back takes what still comes, so that no result is
// lost that the client got, and the end is told.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no small file system can be mounted here: %s", out)
	}
	defer exec.Command("umount", "-l", dir).Run()
	w, err := CreateDir(filepath.Join(dir, "run"), runOf(100_000, Running))
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsFrom()
	kept := spoolFull(t, w, rows)
	for row := range int64(100) { // under way when the disk was full
		if err := w.Result(rows(kept + row)); err != nil {
			t.Fatal(err)
		}
	}
	kept += 100
	end := runOf(kept, Aborted)
	end.AbortReason = "no room"
	if err := w.Finish(end); err != nil && !errors.Is(err, ErrNoRoom) {
		t.Fatal(err)
	}
	d, err := OpenDir(w.path)
	if err != nil || d.Rows != kept || d.Run.AbortReason == "" {
		t.Fatalf("%v: %d rows of %d", err, d.Rows, kept)
	}
	d.Close()
	data, _ := os.ReadFile(filepath.Join(dir, LedgerFile))
	if lines, err := ReadLedger(data); err != nil || len(lines) != 2 || lines[1].Status != Aborted {
		t.Fatalf("%v %+v", err, lines)
	}
}
