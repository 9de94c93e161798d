package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// maxLookInside is how many entries, and how many bytes of a tar, are looked at
// before reading begins.
const (
	maxLookInside  = 50
	maxLookedBytes = 4 << 20
)

// lookInside looks at the first entries of an archive.
func (l *Log) lookInside(s *source.Source, a *source.Archive) error {
	var first error
	looked, n := 0, 0
	head := io.Reader(nil)
	if a.Name == "tar" {
		head = bytes.NewReader(s.Peek(maxLookedBytes))
	}
	err := a.Each(head, func(name string, open func() (io.Reader, error)) bool {
		n++
		before := len(l.taken)
		err := l.lookEntry(s, name, open, a.Name == "tar" && !s.Ended())
		if err == nil {
			looked++
		} else if first == nil && before == len(l.taken) {
			first = err
		}
		return n < maxLookInside && !source.IsBomb(err) && l.ctx.Err() == nil
	})
	switch {
	case source.IsBomb(first), l.ctx.Err() != nil:
		return first
	case looked > 0:
		return nil
	case err != nil && (a.Name == "zip" || s.Ended()):
		return s.Locate(err)
	case n == 0 && (a.Name == "zip" || s.Ended()):
		return fmt.Errorf("%s: the %s archive has no file in it", s.Name, a.Name)
	case first != nil:
		return fmt.Errorf("%s: none of the first files in it is a log; the first says: %w", s.Name, first)
	}
	return nil
}

// lookEntry looks at one entry. Of one that may be cut off by the end of what is
// looked at, only success counts.
func (l *Log) lookEntry(s *source.Source, name string, open func() (io.Reader, error), mayBeCut bool) error {
	r, err := open()
	if err != nil {
		return err
	}
	e, err := s.Entry(name, r)
	if err != nil {
		return err
	}
	defer e.Drop()
	if e.Archive() != nil {
		return fmt.Errorf("%s: is an archive in an archive; unpack it first", e.Name)
	}
	k, err := l.lookAt(e)
	if err == nil && mayBeCut && k.container.whole {
		delete(l.looked, e.Name)
	}
	return err
}

// inside yields the rows of the files of an archive.
func (l *Log) inside(s *source.Source, a *source.Archive, yield func(Record, error) bool) bool {
	more := true
	var r io.Reader
	if a.Name == "tar" {
		r = s.Reader()
	}
	err := a.Each(r, func(name string, open func() (io.Reader, error)) bool {
		more = l.entry(s, name, open, yield)
		return more
	})
	if !more || err == nil {
		return more
	}
	if err = s.Locate(err); !source.IsBroken(err) {
		yield(Record{}, err)
		return false
	}
	l.skip(s.Name, err.Error(), true)
	row := rows.Bad(rows.CutShort, "the archive breaks off, and what follows cannot be read")
	row.Pos = rows.Pos{File: s.Name}
	return yield(Record{Pos: row.Pos}, row)
}

func (l *Log) entry(s *source.Source, name string, open func() (io.Reader, error), yield func(Record, error) bool) bool {
	in := source.Input{Path: s.Name + "/" + name}
	if l.looked[in.Path].skip {
		return true
	}
	r, err := open()
	if err != nil {
		return l.lose(in, err, yield)
	}
	e, err := s.Entry(name, r)
	if err != nil {
		return l.lose(in, err, yield)
	}
	defer e.Drop()
	if e.Archive() != nil {
		return l.lose(in, errors.New("is an archive in an archive; unpack it first"), yield)
	}
	return l.text(e, false, yield)
}
