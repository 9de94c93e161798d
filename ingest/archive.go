package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/flate"

	"reprise/ingest/rows"
)

// archive walks the entries of a file that holds files. open gives an entry's
// bytes and is valid until each returns from do; do says whether to go on.
type archive struct {
	name string
	each func(s *source, r io.Reader, do func(name string, open func() (io.Reader, error)) bool) error
}

// archiveOf tells an archive by content; nil for any other file.
func archiveOf(s *source) *archive {
	head := s.peek(1 << 10)
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return &archive{name: "zip", each: eachZip}
	case isTar(head):
		return &archive{name: "tar", each: eachTar}
	}
	return nil
}

// isTar checks the sum that the first header carries, as old archives have no
// magic number.
func isTar(head []byte) bool {
	if len(head) < 512 || head[0] == 0 {
		return false
	}
	var sum int64
	for i, c := range head[:512] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int64(c)
	}
	var want int64
	digits := bytes.Trim(head[148:156], " \x00")
	for _, c := range digits {
		if c < '0' || c > '7' {
			return false
		}
		want = want*8 + int64(c-'0')
	}
	return len(digits) > 0 && sum == want
}

func eachTar(s *source, r io.Reader, do func(string, func() (io.Reader, error)) bool) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || hiddenPath(h.Name) {
			continue
		}
		if !do(h.Name, func() (io.Reader, error) { return t, nil }) {
			return nil
		}
	}
}

func eachZip(s *source, _ io.Reader, do func(string, func() (io.Reader, error)) bool) error {
	at, size, err := s.file()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return damaged("the zip archive cannot be read (%v)", err)
	}
	z.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser { return flate.NewReader(r) })
	for _, f := range z.File {
		if f.Name == "[Content_Types].xml" {
			return errors.New("is an Excel or Office file; save the sheet as CSV")
		}
		if f.FileInfo().IsDir() || hiddenPath(f.Name) {
			continue
		}
		open := func() (io.Reader, error) {
			r, err := f.Open()
			if err != nil {
				return nil, damaged("the entry cannot be read (%v)", err)
			}
			s.close = append(s.close, func() { r.Close() })
			return &expansion{r: r, raw: &meter{n: int64(min(f.CompressedSize64, 1<<50))}, limits: s.limits}, nil
		}
		more := do(f.Name, open)
		s.shut()
		if !more {
			return nil
		}
	}
	return nil
}

// hiddenPath says that a step of an entry's path is hidden.
func hiddenPath(name string) bool {
	for step := range strings.SplitSeq(path.Clean(name), "/") {
		if step != "." && step != ".." && hidden(step) {
			return true
		}
	}
	return false
}

// maxLookInside is how many entries, and how many bytes of a tar, are looked at
// before reading begins.
const (
	maxLookInside  = 50
	maxLookedBytes = 4 << 20
)

// lookInside looks at the first entries of an archive.
func (l *Log) lookInside(s *source, a *archive) error {
	var first error
	looked, n := 0, 0
	head := io.Reader(nil)
	if a.name == "tar" {
		head = bytes.NewReader(s.peek(maxLookedBytes))
	}
	err := a.each(s, head, func(name string, open func() (io.Reader, error)) bool {
		n++
		before := len(l.taken)
		err := l.lookEntry(s, name, open, a.name == "tar" && !s.ended())
		if err == nil {
			looked++
		} else if first == nil && before == len(l.taken) {
			first = err
		}
		return n < maxLookInside && !isBomb(err) && l.ctx.Err() == nil
	})
	switch {
	case isBomb(first), l.ctx.Err() != nil:
		return first
	case looked > 0:
		return nil
	case err != nil && (a.name == "zip" || s.ended()):
		return s.locate(err)
	case n == 0 && (a.name == "zip" || s.ended()):
		return fmt.Errorf("%s: the %s archive has no file in it", s.name, a.name)
	case first != nil:
		return fmt.Errorf("%s: none of the first files in it is a log; the first says: %w", s.name, first)
	}
	return nil
}

// lookEntry looks at one entry. Of one that may be cut off by the end of what is
// looked at, only success counts.
func (l *Log) lookEntry(s *source, name string, open func() (io.Reader, error), mayBeCut bool) error {
	r, err := open()
	if err != nil {
		return err
	}
	e, err := newEntry(l.ctx, s.name+"/"+name, r, s.limits)
	if err != nil {
		return err
	}
	defer e.drop()
	if archiveOf(e) != nil {
		return fmt.Errorf("%s: is an archive in an archive; unpack it first", e.name)
	}
	k, err := l.lookAt(e)
	if err == nil && mayBeCut && k.container.whole {
		delete(l.looked, e.name)
	}
	return err
}

// inside yields the rows of the files of an archive.
func (l *Log) inside(s *source, a *archive, yield func(Record, error) bool) bool {
	more := true
	var r io.Reader
	if a.name == "tar" {
		r = s.reader()
	}
	err := a.each(s, r, func(name string, open func() (io.Reader, error)) bool {
		more = l.entry(s, name, open, yield)
		return more
	})
	if !more || err == nil {
		return more
	}
	if err = s.locate(err); !isBroken(err) {
		yield(Record{}, err)
		return false
	}
	l.skip(s.name, err.Error(), true)
	row := rows.Bad(rows.CutShort, "the archive breaks off, and what follows cannot be read")
	row.Pos = rows.Pos{File: s.name}
	return yield(Record{Pos: row.Pos}, row)
}

func (l *Log) entry(s *source, name string, open func() (io.Reader, error), yield func(Record, error) bool) bool {
	in := input{path: s.name + "/" + name}
	if l.looked[in.path].skip {
		return true
	}
	r, err := open()
	if err != nil {
		return l.lose(in, err, yield)
	}
	e, err := newEntry(l.ctx, in.path, r, s.limits)
	if err != nil {
		return l.lose(in, err, yield)
	}
	defer e.drop()
	if archiveOf(e) != nil {
		return l.lose(in, errors.New("is an archive in an archive; unpack it first"), yield)
	}
	return l.text(e, false, yield)
}
