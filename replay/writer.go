package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Names inside a results directory.
const (
	runFile      = "run.json"
	requestsFile = "requests.parquet"
	healthFile   = "health.parquet"
	serverFile   = "server.parquet"
	spoolDir     = "spool"
	spoolFile    = "000000.spool"
)

const (
	spoolBlock = 64 << 10    // bytes that make a frame full
	spoolEvery = time.Second // and the longest that a record stays in memory
)

// Writer keeps the results of a running replay. While it runs, every record is
// in the spool within a second, so a killed process loses no more; Finish
// turns the spool into the Parquet files. Its methods may be called from
// several goroutines. Once records are lost every call returns that error; full
// tells before that the run must end.
type Writer struct {
	// Count returns the tokens of an answer's text, by which Finish fills in
	// OutLocal; nil: nothing is counted. It is set before the first result.
	Count func(text string) int

	path    string
	started Run        // as run.json has it
	kept    []*os.File // descriptors for the files of the end, which connections may have used up by then
	mu      sync.Mutex
	file    *os.File
	bufs    map[byte][]byte
	out     []byte
	size    int64
	err     error // what ends the run; records are kept all the same while lost is nil
	lost    error // that records are lost
	stop    chan struct{}
	done    chan struct{}
}

// CreateDir makes the results directory at path, which must not exist, writes
// run.json with the status running, and enters the run in the ledger.jsonl
// beside it. After an error there is no directory.
func CreateDir(path string, run *Run) (*Writer, error) {
	if err := os.Mkdir(path, 0o755); err != nil {
		if errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("%s exists already and results are never overwritten: choose another directory", path)
		}
		return nil, fmt.Errorf("making the results directory: %w", err)
	}
	w, err := begin(path, run)
	if err != nil {
		os.RemoveAll(path) // made here and of no use
		return nil, err
	}
	go w.tick()
	return w, nil
}

// begin fills a new results directory. The ledger comes last: a run in it has
// begun.
func begin(path string, run *Run) (*Writer, error) {
	started := *run
	started.Kind, started.Version, started.Status = RunKind, RunVersion, Running
	if _, err := putRun(path, &started); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(path, spoolDir), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(path, spoolDir, spoolFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, started: started, file: f, bufs: map[byte][]byte{}, stop: make(chan struct{}), done: make(chan struct{})}
	if err := w.secure(&started); err != nil {
		closeAll(w.kept)
		f.Close()
		return nil, err
	}
	return w, nil
}

// secure locks the spool, keeps what the end needs and enters the run in the
// ledger.
func (w *Writer) secure(run *Run) (err error) {
	if err := lockFile(w.file); err != nil { // as long as this process lives; see Killed
		return fmt.Errorf("locking the spool: %w", err)
	}
	if w.kept, err = keepFiles(w.path); err != nil {
		return err
	}
	if err := keepRoom(filepath.Join(w.path, spoolDir, rowsRoom), roomRows); err != nil {
		return err
	}
	if err := keepRoom(filepath.Join(w.path, spoolDir, endRoom), roomEnd); err != nil {
		return err
	}
	return appendLedger(ledgerOf(w.path), entry(w.path, run, ""))
}

// endFiles is what Finish has open at once, and some to spare.
const endFiles = 8

// keepFiles opens as many descriptors of the folder as Finish needs.
func keepFiles(path string) ([]*os.File, error) {
	var kept []*os.File
	for range endFiles {
		f, err := os.Open(path)
		if err != nil {
			closeAll(kept)
			return nil, fmt.Errorf("keeping descriptors for the results: %w", err)
		}
		kept = append(kept, f)
	}
	return kept, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// Result keeps one result.
func (w *Writer) Result(r Result) error {
	if err := w.said(&r); err != nil {
		return err
	}
	return w.add(frameResults, func(b []byte) []byte { return appendResult(b, &r) })
}

// mark says in run.json why the run is ending, for the case that it cannot say so
// at its end. Where that cannot be written it is not said.
func (w *Writer) mark(why string) {
	w.started.AbortReason = why
	putRun(w.path, &w.started)
}

// full is why the run must end though every record was kept, nil while it need
// not.
func (w *Writer) full() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// said keeps the texts of an answer, where its tokens will be counted.
func (w *Writer) said(r *Result) error {
	if r.Said == nil || w.Count == nil || w.full() != nil { // the room left is for results
		return nil
	}
	if err := w.add(frameSaid, func(b []byte) []byte { return appendSaid(b, r, r.Said) }); err != nil {
		return err
	}
	for i := range r.Said.More {
		if err := w.add(frameSaid, func(b []byte) []byte { return appendSaid(b, r, &r.Said.More[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// Health keeps one health row.
func (w *Writer) Health(h HealthRow) error {
	return w.add(frameHealth, func(b []byte) []byte { return appendHealth(b, &h) })
}

// account keeps what the client knows of itself.
func (w *Writer) account(a account) error {
	return w.add(frameAccount, func(b []byte) []byte { return appendAccount(b, &a) })
}

// Server keeps one scraped metric.
func (w *Writer) Server(s ServerRow) error {
	return w.add(frameServer, func(b []byte) []byte { return appendServer(b, &s) })
}

func (w *Writer) add(kind byte, record func([]byte) []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost != nil {
		return w.lost
	}
	w.out = record(w.out[:0])
	b := binary.AppendUvarint(w.bufs[kind], uint64(len(w.out)))
	w.bufs[kind] = append(b, w.out...)
	if len(w.bufs[kind]) >= spoolBlock {
		w.flush(kind)
	}
	return w.lost
}

// flush writes one frame of a kind by one write; w.mu is held.
func (w *Writer) flush(kind byte) {
	if len(w.bufs[kind]) == 0 {
		return
	}
	w.out = appendFrame(w.out[:0], kind, w.bufs[kind])
	w.bufs[kind] = w.bufs[kind][:0]
	w.write(w.out)
}

func (w *Writer) flushAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, kind := range []byte{frameSaid, frameResults, frameHealth, frameServer, frameAccount} {
		w.flush(kind)
	}
}

func (w *Writer) tick() {
	defer close(w.done)
	t := time.NewTicker(spoolEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			w.flushAll()
		case <-w.stop:
			w.flushAll()
			return
		}
	}
}

// Finish ends the run: run says how (its Status is complete or aborted, and
// its outcomes add up to what was planned). It writes the Parquet files and
// run.json, each under its final name only when whole, enters the end in the
// ledger and removes the spool. After an error the spool is still there, OpenDir
// reads it, and run.json and the ledger say why where they can be written.
func (w *Writer) Finish(run *Run) error {
	close(w.stop)
	<-w.done
	defer w.file.Close()
	closeAll(w.kept)
	if w.lost != nil {
		return w.breakOff(run, w.lost)
	}
	end := *run
	end.Kind, end.Version = RunKind, RunVersion
	if end.Status != Complete && end.Status != Aborted {
		return fmt.Errorf("a finished run is complete or aborted, not %q", end.Status)
	}
	if err := w.convert(&end); err != nil {
		return w.breakOff(&end, roomless(w.path, err))
	}
	os.Remove(filepath.Join(w.path, spoolDir, rowsRoom))
	os.Remove(filepath.Join(w.path, spoolDir, endRoom))
	digest, err := putRun(w.path, &end)
	if err != nil {
		return roomless(w.path, err)
	}
	if err := appendLedger(ledgerOf(w.path), entry(w.path, &end, digest)); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(w.path, spoolDir))
}

// convert turns the spool into the Parquet files.
func (w *Writer) convert(run *Run) error {
	ix, err := indexSpool(w.file, nil)
	if err != nil {
		return err
	}
	if n := int64(len(ix.results)); n != run.Planned {
		return fmt.Errorf("%d requests planned but %d results kept", run.Planned, n)
	}
	if err := ix.counted(w.Count); err != nil {
		return err
	}
	return ix.convert(w.path)
}
