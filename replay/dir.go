package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"reprise/trace/table"
)

// Dir is a results directory, open for reading.
type Dir struct {
	Path string
	Run  *Run
	// Partial is set when the run did not end: it still runs, or was killed
	// (Run.Status is then Killed where that is known). Its rows are what the spool
	// has, fewer than planned.
	Partial bool
	Rows    int64 // results that Requests yields
	Cut     int64 // bytes of the spool that are in no whole frame
	ix      *index
	spool   *os.File
}

// OpenDir opens the results at path. Those of a finished run must be whole:
// all four files, columns as in artifacts.md §4, as many rows as were planned.
// Of a run that was killed it reads what the spool holds.
func OpenDir(path string) (*Dir, error) {
	data, err := os.ReadFile(filepath.Join(path, runFile))
	if err != nil {
		if st, no := os.Stat(path); no == nil && !st.IsDir() {
			return nil, fmt.Errorf("%s is a file, and results are a folder: give that, as reprise replay made it", path)
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s is not a results directory: it has no %s", path, runFile)
		}
		return nil, err
	}
	run, err := DecodeRun(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := &Dir{Path: path, Run: run, Partial: run.Status == Running}
	if d.Partial {
		err = d.openSpool()
	} else {
		err = d.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// Close ends the use of the directory.
func (d *Dir) Close() error {
	if d.spool != nil {
		return d.spool.Close()
	}
	return nil
}

func (d *Dir) openSpool() error {
	f, err := os.Open(filepath.Join(d.Path, spoolDir, spoolFile))
	if errors.Is(err, os.ErrNotExist) {
		d.ix = &index{} // killed before the first record
		return nil
	}
	if err != nil {
		return err
	}
	d.spool = f
	if free, known := unlocked(f); known && free {
		d.Run.Status = Killed
	}
	if d.ix, err = indexSpool(f, &Lags{}); err != nil {
		f.Close()
		return err
	}
	if v := d.Run.Verdict.Verdict; v == "" || v == NoVerdict {
		d.Run.Verdict = d.ix.verdict(d.Run.Path.shared())
	}
	if d.ix.account != nil {
		d.Run.Cache.take(d.ix.account.sent)
	}
	d.ix.lags, d.ix.account = nil, nil
	d.Rows, d.Cut = int64(len(d.ix.results)), d.ix.cut
	return nil
}

func (d *Dir) check() error {
	var err error
	if d.Rows, err = numRows(d.Path, requestsFile, requestTable()); err != nil {
		return err
	}
	if d.Rows != d.Run.Planned {
		return fmt.Errorf("%s has %d rows, %s says %d were planned", requestsFile, d.Rows, runFile, d.Run.Planned)
	}
	if err = checkHealth(d.Path); err != nil {
		return err
	}
	_, err = numRows(d.Path, serverFile, serverTable())
	return err
}

// Requests yields the results in the order of the schedule.
func (d *Dir) Requests() iter.Seq2[Result, error] {
	if d.ix != nil {
		return d.ix.all()
	}
	return rows(d.Path, requestsFile, requestTable())
}

// Health yields the health rows in order of time.
func (d *Dir) Health() iter.Seq2[HealthRow, error] {
	if d.ix != nil {
		return each(d.ix.health)
	}
	return healthFrom(d.Path)
}

// Server yields the scraped metrics in order of time.
func (d *Dir) Server() iter.Seq2[ServerRow, error] {
	if d.ix != nil {
		return each(d.ix.server)
	}
	return rows(d.Path, serverFile, serverTable())
}

func openTable[T any](dir, name string, t *table.Table[T]) (*os.File, *table.File[T], error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	in, err := t.Open(f, st.Size())
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, in, nil
}

func numRows[T any](dir, name string, t *table.Table[T]) (int64, error) {
	f, in, err := openTable(dir, name, t)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return in.NumRows(), nil
}

func rows[T any](dir, name string, t *table.Table[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		f, in, err := openTable(dir, name, t)
		if err != nil {
			var zero T
			yield(zero, err)
			return
		}
		defer f.Close()
		for r, err := range in.Rows() {
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// putRun writes run.json and returns its SHA-256 in hex.
func putRun(dir string, r *Run) (string, error) {
	full := *r
	full.Flags, full.SLO = listed(r.Flags), listed(r.SLO)
	full.Outcomes, full.Notes = listed(r.Outcomes), listed(r.Notes)
	data, err := EncodeRun(&full)
	if err != nil {
		return "", err
	}
	if _, err := DecodeRun(data); err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), putFile(dir, runFile, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// listed makes an absent list an empty one, so that it is never null.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
