package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/flate"
)

// Archive is a file that holds files.
type Archive struct {
	Name string // tar or zip; a tar is read from its start, a zip at any place
	from *Source
	walk func(s *Source, r io.Reader, do func(name string, open func() (io.Reader, error)) bool) error
}

// Each walks the entries. Of a tar r is the text from its start, or a part of
// it. open gives an entry's bytes and is valid until do returns, which says
// whether to go on.
func (a *Archive) Each(r io.Reader, do func(name string, open func() (io.Reader, error)) bool) error {
	return a.walk(a.from, r, do)
}

// Archive tells an archive by content; nil for any other file.
func (s *Source) Archive() *Archive {
	head := s.Peek(1 << 10)
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return &Archive{Name: "zip", from: s, walk: eachZip}
	case isTar(head):
		return &Archive{Name: "tar", from: s, walk: eachTar}
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

func eachTar(s *Source, r io.Reader, do func(string, func() (io.Reader, error)) bool) error {
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

func eachZip(s *Source, _ io.Reader, do func(string, func() (io.Reader, error)) bool) error {
	at, size, err := s.File()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return Damaged("the zip archive cannot be read (%v)", err)
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
				return nil, Damaged("the entry cannot be read (%v)", err)
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
