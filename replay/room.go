package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrNoRoom ends a run whose results the disk does not hold.
var ErrNoRoom = errors.New("no room left for the results")

// Room that is kept on the disk while a run goes on, in bytes: for the results
// of what is under way when the disk is full, and for run.json and the ledger.
const (
	roomRows = 1 << 20
	roomEnd  = 32 << 10
)

// Names of the files that keep it, in the spool's folder.
const (
	rowsRoom = "room-for-rows"
	endRoom  = "room-for-the-end"
)

// keepRoom takes n bytes of the disk.
func keepRoom(path string, n int) error {
	if err := os.WriteFile(path, make([]byte, n), 0o644); err != nil {
		return roomless(filepath.Dir(filepath.Dir(path)), err)
	}
	return nil
}

// roomless names what a full disk, a quota or a limit on files means for the
// results in dir; any other error is as it was.
func roomless(dir string, err error) error {
	var code syscall.Errno
	if errors.As(err, &code) && (code == syscall.ENOSPC || code == syscall.EDQUOT || code == syscall.EFBIG) {
		return fmt.Errorf("%w in %s (%w)", ErrNoRoom, dir, code)
	}
	return err
}

// write appends a frame to the spool. Where the disk is full the run ends by
// w.err, and the room kept for that takes this frame and those that follow.
func (w *Writer) write(frame []byte) {
	if w.lost != nil {
		return
	}
	err := w.put(frame)
	if err == nil {
		return
	}
	err = roomless(w.path, fmt.Errorf("writing the spool: %w", err))
	if w.err == nil {
		w.err = err
		if os.Remove(filepath.Join(w.path, spoolDir, rowsRoom)) == nil && w.put(frame) == nil {
			return
		}
	}
	w.lost = w.err
}

// put writes a frame whole or not at all.
func (w *Writer) put(frame []byte) error {
	_, err := w.file.WriteAt(frame, w.size)
	if err != nil {
		w.file.Truncate(w.size)
		return err
	}
	w.size += int64(len(frame))
	return nil
}

// breakOff ends a run whose files could not be made: the spool stays, and
// run.json and the ledger say why, as far as there is room for it. run.json says
// running still, since results may be missing; see OpenDir.
func (w *Writer) breakOff(run *Run, why error) error {
	os.Remove(filepath.Join(w.path, spoolDir, rowsRoom))
	os.Remove(filepath.Join(w.path, spoolDir, endRoom))
	said := w.started
	said.AbortReason, said.Clock, said.Endpoint, said.Planned = why.Error(), run.Clock, run.Endpoint, run.Planned
	said.Verdict, said.Cache = run.Verdict, run.Cache
	digest, err := putRun(w.path, &said)
	if err != nil {
		return why
	}
	end := said
	end.Status = Aborted
	appendLedger(ledgerOf(w.path), entry(w.path, &end, digest)) // why is worse
	return why
}
