package replay

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"reprise/trace/table"
)

// index says where the records of a spool lie: results by the order of the
// schedule, the rest in the order of writing. It takes about 48 bytes a
// result, so the rows themselves never need to fit in memory.
type index struct {
	file    io.ReaderAt
	results []place
	health  []HealthRow
	server  []ServerRow
	said    []text            // texts of answers
	local   map[attempt]int32 // their tokens, once counted
	lags    *Lags             // of the results; nil: not gathered
	account *account          // what the client knew of itself; nil: nothing was kept
	cut     int64             // bytes that are in no whole frame
}

// text is where the text of an answer lies.
type text struct {
	at int64
	n  int32
}

type place struct {
	point, repeat int32
	sched, row    int64
	at            int64
	n             int32
}

// indexSpool reads the whole frames of a spool, and gathers the lags of its
// results, if asked to. A record that is damaged inside a whole frame is an
// error.
func indexSpool(f *os.File, lags *Lags) (*index, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	ix := &index{file: f, lags: lags}
	if ix.cut, err = wholeFrames(f, st.Size(), ix.add); err != nil {
		return nil, err
	}
	slices.SortFunc(ix.results, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.point, b.point), cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.sched, b.sched), cmp.Compare(a.row, b.row))
	})
	for i := 1; i < len(ix.results); i++ {
		a, b := ix.results[i-1], ix.results[i]
		if a.point == b.point && a.repeat == b.repeat && a.row == b.row {
			return nil, fmt.Errorf("damaged spool: row %d has two results", a.row)
		}
	}
	return ix, nil
}

func (ix *index) add(f frame) error {
	return records(f.payload, func(at int, rec []byte) error {
		switch f.kind {
		case frameResults:
			r, err := decodeResult(rec)
			ix.results = append(ix.results, place{r.Point, r.Repeat, r.Sched, r.Row, f.at + int64(at), int32(len(rec))})
			if ix.lags != nil && err == nil {
				ix.lags.Add(&r)
			}
			return err
		case frameHealth:
			h, err := decodeHealth(rec)
			ix.health = append(ix.health, h)
			return err
		case frameServer:
			s, err := decodeServer(rec)
			ix.server = append(ix.server, s)
			return err
		case frameSaid:
			ix.said = append(ix.said, text{f.at + int64(at), int32(len(rec))})
			return nil
		case frameAccount:
			a, err := decodeAccount(rec)
			if ix.account == nil {
				ix.account = &account{}
			}
			ix.account.add(a)
			return err
		}
		return fmt.Errorf("damaged spool: unknown frame %q", f.kind)
	})
}

// all yields the results in the order of the schedule.
func (ix *index) all() iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		var buf []byte
		for _, p := range ix.results {
			buf = slices.Grow(buf[:0], int(p.n))[:p.n]
			if _, err := ix.file.ReadAt(buf, p.at); err != nil {
				yield(Result{}, fmt.Errorf("reading the spool: %w", err))
				return
			}
			r, err := decodeResult(buf)
			ix.count(&r)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// convert writes the three Parquet files.
func (ix *index) convert(dir string) error {
	if err := putTable(dir, requestsFile, requestTable(), ix.all()); err != nil {
		return err
	}
	if err := putTable(dir, healthFile, healthTable(), each(ix.health)); err != nil {
		return err
	}
	return putTable(dir, serverFile, serverTable(), each(ix.server))
}

func each[T any](rows []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func putTable[T any](dir, name string, t *table.Table[T], rows iter.Seq2[T, error]) error {
	return putFile(dir, name, func(out io.Writer) error {
		w := t.NewWriter(out)
		for r, err := range rows {
			if err == nil {
				err = w.Write(r)
			}
			if err != nil {
				return err
			}
		}
		return w.Close()
	})
}

// putFile writes a file under a temporary name and gives it its own when it is
// whole and on the disk.
func putFile(dir, name string, write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	out := bufio.NewWriterSize(tmp, 1<<18)
	if err := write(out); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	for _, step := range []func() error{out.Flush, func() error { return tmp.Chmod(0o644) }, tmp.Sync, tmp.Close} {
		if err := step(); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return os.Rename(tmp.Name(), filepath.Join(dir, name))
}
