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
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"reprise/trace"
)

const (
	maxLayers = 3         // gzip in gzip happens; more is a trick
	maxWindow = 256 << 20 // zstd --long=28; memory of the decoder
	bombFloor = 256 << 20 // below this a file may expand as it likes
	bombRatio = 500       // chat logs that repeat their prompts stay below 200
)

// source is one input: hashed as it is read, decompressed, with its start held
// back so that it can be looked at and then read again.
type source struct {
	name  string
	raw   *meter
	text  io.Reader // decompressed
	close []func()
	head  []byte // read ahead of text
	err   error  // what ended the reading ahead
}

// newSource finds the compression of r by its first bytes.
func newSource(ctx context.Context, name string, r io.Reader, progress func(int64)) (*source, error) {
	s := &source{name: name, raw: &meter{ctx: ctx, r: r, hash: sha256.New(), progress: progress}}
	s.text = s.raw
	for range maxLayers {
		br := bufio.NewReaderSize(s.text, 64<<10)
		s.text = br
		magic, err := br.Peek(4)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, s.fail(err)
		}
		next, err := s.layer(br, magic)
		if err != nil {
			return nil, s.fail(err)
		}
		if next == nil {
			return s, nil
		}
		s.text = &expansion{r: next, raw: s.raw}
	}
	s.shut()
	return nil, fmt.Errorf("%s: compressed more than %d times over; unpack it first", name, maxLayers-1)
}

// layer returns the decompressor for the magic number, nil for plain bytes.
func (s *source) layer(r io.Reader, magic []byte) (io.Reader, error) {
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, func() { z.Close() })
		return z, nil
	case len(magic) == 4 && (bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		(magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], []byte{0x2a, 0x4d, 0x18}))): // a frame, or one to skip
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, z.Close)
		return z, nil
	}
	return nil, nil
}

// peek returns at least n bytes of the text, less where it ends or fails; the
// failure comes again when the text is read.
func (s *source) peek(n int) []byte {
	chunk := make([]byte, 32<<10)
	for len(s.head) < n && s.err == nil {
		k, err := s.text.Read(chunk)
		s.head = append(s.head, chunk[:k]...)
		s.err = err
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

// finish reads what stands behind the text, so that hash and size are those of
// the whole file.
func (s *source) finish() (trace.Source, error) {
	if _, err := io.Copy(io.Discard, s.raw); err != nil {
		return trace.Source{}, s.fail(err)
	}
	s.shut()
	return trace.Source{SHA256: hex.EncodeToString(s.raw.hash.Sum(nil)), Bytes: s.raw.n}, nil
}

func (s *source) shut() {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
	s.close = nil
}

// locate is fail for errors that may name the file already.
func (s *source) locate(err error) error {
	if strings.HasPrefix(err.Error(), s.name+":") {
		s.shut()
		return err
	}
	return s.fail(err)
}

// fail names the file and how far it was read.
func (s *source) fail(err error) error {
	s.shut()
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%s: the compressed file is cut short at byte %d; fetch it again", s.name, s.raw.n)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: needs more than %d MiB to decompress; unpack it first", s.name, maxWindow>>20)
	}
	return fmt.Errorf("%s: at byte %d of the file: %w", s.name, s.raw.n, err)
}

// meter counts and hashes what passes and stops when the context ends.
type meter struct {
	ctx      context.Context
	r        io.Reader
	hash     hash.Hash
	n        int64
	progress func(bytes int64)
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p)
	m.hash.Write(p[:n])
	m.n += int64(n)
	if m.progress != nil && n > 0 {
		m.progress(int64(n))
	}
	return n, err
}

// expansion refuses a stream that grows out of all proportion to its file.
type expansion struct {
	r   io.Reader
	raw *meter
	n   int64
}

func (e *expansion) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.n += int64(n)
	if e.n > bombFloor && e.n/bombRatio > e.raw.n {
		return 0, fmt.Errorf("decompresses to more than %d times its size, which no log does; unpack it first if it is genuine", bombRatio)
	}
	return n, err
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
