package ingest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"reprise/trace"
)

// source is one input: hashed as it is read, decompressed, with its start held
// back so that it can be looked at and then read again.
type source struct {
	name   string
	raw    *meter
	limits Limits
	disk   *os.File  // the file itself, nil for a pipe or an entry of an archive
	layers int       // of compression
	text   io.Reader // decompressed
	hole   int64     // bytes before it, all zero
	close  []func()
	head   []byte // read ahead of text
	err    error  // what ended the reading ahead
	spool  *os.File
	known  []schema   // what it may be, and
	sets   []*lineSet // their kinds of line of text logs
}

// newSource finds the compression of r by its first bytes.
func newSource(ctx context.Context, name string, r io.Reader, limits Limits, progress func(int64)) (*source, error) {
	return unpack(&source{name: name, limits: limits.orDefault(), raw: &meter{ctx: ctx, r: r, hash: sha256.New(), progress: progress}})
}

// newEntry is newSource for an entry of an archive, which has no digest.
func newEntry(ctx context.Context, name string, r io.Reader, limits Limits) (*source, error) {
	return unpack(&source{name: name, limits: limits, raw: &meter{ctx: ctx, r: r}})
}

func unpack(s *source) (*source, error) {
	s.text = s.raw
	for ; s.layers < maxLayers; s.layers++ {
		br := bufio.NewReaderSize(s.text, 64<<10)
		s.text = br
		magic, err := br.Peek(10)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, s.fail(err)
		}
		next, err := s.layer(br, magic)
		if err != nil {
			return nil, s.fail(err)
		}
		if next == nil {
			if s.text = plainText(br); s.text == br {
				s.text = &hole{r: br, size: &s.hole}
			}
			return s, nil
		}
		s.text = &expansion{r: next, raw: s.raw, limits: s.limits}
	}
	s.shut()
	return nil, fmt.Errorf("%s: compressed more than %d times over; unpack it first", s.name, maxLayers-1)
}

// peek returns at least n bytes of the text, less where it ends or fails; the
// failure comes again when the text is read.
func (s *source) peek(n int) []byte {
	if len(s.head) >= n || s.err != nil {
		return s.head
	}
	const chunk = 32 << 10
	for len(s.head) < n && s.err == nil {
		at := len(s.head)
		if cap(s.head)-at < chunk {
			s.head = slices.Grow(s.head, max(at, chunk)) // twice as much, as it is copied each time
		}
		k, err := s.text.Read(s.head[at : at+chunk])
		s.head, s.err = s.head[:at+k], err
	}
	return s.head
}

// ended reports whether all of the text is in the head.
func (s *source) ended() bool { return errors.Is(s.err, io.EOF) }

// reader returns the text from its start. It can be called once.
func (s *source) reader() io.Reader {
	head := bytes.NewReader(s.head)
	s.head = nil
	if s.err != nil {
		return io.MultiReader(head, failing{s.err})
	}
	return io.MultiReader(head, s.text)
}

// file gives the whole text for reading at any place: the file itself when it is
// not compressed, else a copy in the folder for temporary files.
func (s *source) file() (io.ReaderAt, int64, error) {
	if s.disk != nil && s.layers == 0 {
		if st, err := s.disk.Stat(); err == nil && st.Mode().IsRegular() {
			return s.disk, st.Size(), nil
		}
	}
	if s.spool == nil {
		f, err := os.CreateTemp("", "reprise-*")
		if err != nil {
			return nil, 0, &tempError{s.name, err}
		}
		os.Remove(f.Name()) // gone when it is closed; where that cannot be, drop removes it
		s.spool = f
		n, err := io.Copy(f, s.reader())
		if of := (*fs.PathError)(nil); errors.As(err, &of) && of.Path == f.Name() {
			err = &tempError{s.name, err}
		}
		if err != nil {
			return nil, 0, err
		}
		s.text, s.err = io.NewSectionReader(f, 0, n), nil
	}
	st, err := s.spool.Stat()
	if err != nil {
		return nil, 0, &readError{err}
	}
	return s.spool, st.Size(), nil
}

// finish reads what stands behind the text, so that hash and size are those of
// the whole file.
func (s *source) finish() (trace.Source, error) {
	if _, err := io.Copy(io.Discard, s.raw); err != nil {
		return trace.Source{}, s.fail(err)
	}
	s.shut()
	return trace.Source{SHA256: hex.EncodeToString(s.raw.hash.Sum(nil)), Bytes: s.raw.n}, nil
}

// shut ends the decompressors.
func (s *source) shut() {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
	s.close = nil
}

// drop ends the source.
func (s *source) drop() {
	s.shut()
	if s.spool != nil {
		s.spool.Close()
		os.Remove(s.spool.Name())
		s.spool = nil
	}
}

// locate is fail for errors that may name the file already.
func (s *source) locate(err error) error {
	if strings.HasPrefix(err.Error(), s.name+":") {
		s.shut()
		return err
	}
	return s.fail(err)
}

// meter counts and hashes what passes and stops when the context ends.
type meter struct {
	ctx      context.Context
	r        io.Reader
	hash     hash.Hash // nil for entries of archives
	n        int64
	progress func(bytes int64)
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	if m.hash != nil {
		m.hash.Write(p[:n])
		if err != nil && !errors.Is(err, io.EOF) {
			err = &readError{err}
		}
	}
	if m.progress != nil && n > 0 {
		m.progress(int64(n))
	}
	return n, err
}

// expansion refuses a stream that grows out of all proportion to its file.
type expansion struct {
	r      io.Reader
	raw    *meter
	limits Limits
	n      int64
}

func (e *expansion) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.n += int64(n)
	if err := e.limits.check(e.n, e.raw.n); err != nil {
		return 0, err
	}
	return n, err
}

// check compares the bytes that came out with those that went in.
func (l Limits) check(out, in int64) error {
	if out <= l.Floor {
		return nil
	}
	if out > l.Total || out/l.Ratio > in {
		return &bomb{fmt.Sprintf("%d bytes unpack to more than %d (the limit is %d times and %d bytes in all); unpack it first if it is genuine",
			in, out, l.Ratio, l.Total)}
	}
	return nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
