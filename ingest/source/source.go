package source

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

// Source is one input: hashed as it is read, decompressed, with its start held
// back so that it can be looked at and then read again.
type Source struct {
	Name string
	Hole int64 // bytes before the text, all zero

	raw    *meter
	limits Limits
	disk   *os.File  // the file itself, nil for a pipe or an entry of an archive
	layers int       // of compression
	text   io.Reader // decompressed
	close  []func()
	head   []byte // read ahead of text
	err    error  // what ended the reading ahead
	spool  *os.File
}

// New reads r and finds its compression by its first bytes. progress is called
// with the number of bytes whenever some were read; it may be nil.
func New(ctx context.Context, name string, r io.Reader, limits Limits, progress func(int64)) (*Source, error) {
	return unpack(&Source{Name: name, limits: limits.orDefault(), raw: &meter{ctx: ctx, r: r, hash: sha256.New(), progress: progress}})
}

// Open is New for a file of the disk, which Drop closes.
func Open(ctx context.Context, path string, limits Limits, progress func(int64)) (*Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := New(ctx, path, f, limits, progress)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.disk = f
	return s, nil
}

// Entry is the source of an entry of an archive, which has no digest.
func (s *Source) Entry(name string, r io.Reader) (*Source, error) {
	return unpack(&Source{Name: s.Name + "/" + name, limits: s.limits, raw: &meter{ctx: s.raw.ctx, r: r}})
}

// Context is that of the reading.
func (s *Source) Context() context.Context { return s.raw.ctx }

// Peeked is as much of the text's start as was asked for with Peek.
func (s *Source) Peeked() []byte { return s.head }

// Failure is what ended Peek too early, io.EOF where the text ends; nil else.
func (s *Source) Failure() error { return s.err }

func unpack(s *Source) (*Source, error) {
	s.text = s.raw
	for ; s.layers < maxLayers; s.layers++ {
		br := bufio.NewReaderSize(s.text, 64<<10)
		s.text = br
		magic, err := br.Peek(10)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, s.Fail(err)
		}
		next, err := s.layer(br, magic)
		if err != nil {
			return nil, s.Fail(err)
		}
		if next == nil {
			if s.text = plainText(br); s.text == br {
				s.text = &hole{r: br, size: &s.Hole}
			}
			return s, nil
		}
		s.text = &expansion{r: next, raw: s.raw, limits: s.limits}
	}
	s.shut()
	return nil, fmt.Errorf("%s: compressed more than %d times over; unpack it first", s.Name, maxLayers-1)
}

// Peek returns at least n bytes of the text, less where it ends or fails; the
// failure comes again when the text is read.
func (s *Source) Peek(n int) []byte {
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

// Ended reports whether Peek gave all of the text.
func (s *Source) Ended() bool { return errors.Is(s.err, io.EOF) }

// Reader returns the text from its start. It can be called once.
func (s *Source) Reader() io.Reader {
	head := bytes.NewReader(s.head)
	s.head = nil
	if s.err != nil {
		return io.MultiReader(head, Failing(s.err))
	}
	return io.MultiReader(head, s.text)
}

// File gives the whole text for reading at any place: the file itself when it is
// not compressed, else a copy in the folder for temporary files.
func (s *Source) File() (io.ReaderAt, int64, error) {
	if s.disk != nil && s.layers == 0 {
		if st, err := s.disk.Stat(); err == nil && st.Mode().IsRegular() {
			return s.disk, st.Size(), nil
		}
	}
	if s.spool == nil {
		f, err := os.CreateTemp("", "reprise-*")
		if err != nil {
			return nil, 0, &tempError{s.Name, err}
		}
		os.Remove(f.Name()) // gone when it is closed; where that cannot be, drop removes it
		s.spool = f
		n, err := io.Copy(f, s.Reader())
		if of := (*fs.PathError)(nil); errors.As(err, &of) && of.Path == f.Name() {
			err = &tempError{s.Name, err}
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

// Finish reads what stands behind the text, so that hash and size are those of
// the whole file.
func (s *Source) Finish() (trace.Source, error) {
	if _, err := io.Copy(io.Discard, s.raw); err != nil {
		return trace.Source{}, s.Fail(err)
	}
	s.shut()
	return trace.Source{SHA256: hex.EncodeToString(s.raw.hash.Sum(nil)), Bytes: s.raw.n}, nil
}

// shut ends the decompressors.
func (s *Source) shut() {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
	s.close = nil
}

// Drop ends the source, and closes and removes what it holds open.
func (s *Source) Drop() {
	s.shut()
	if s.spool != nil {
		s.spool.Close()
		os.Remove(s.spool.Name())
		s.spool = nil
	}
	if s.disk != nil {
		s.disk.Close()
		s.disk = nil
	}
}

// Locate is Fail for errors that may name the file already.
func (s *Source) Locate(err error) error {
	if strings.HasPrefix(err.Error(), s.Name+":") {
		s.shut()
		return err
	}
	return s.Fail(err)
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

// Failing is a reader that fails with err.
func Failing(err error) io.Reader { return failure{err} }

type failure struct{ err error }

func (f failure) Read([]byte) (int, error) { return 0, f.err }
