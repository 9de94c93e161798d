package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"
)

// damage is a file whose bytes are not what its format asks for: it is cut
// short or was altered. Where the disk fails instead, that is no damage.
type damage struct{ text string }

func (d *damage) Error() string { return d.text }

func damaged(format string, args ...any) error { return &damage{fmt.Sprintf(format, args...)} }

// bomb is a file that grows beyond the limits when it is unpacked.
type bomb struct{ text string }

func (b *bomb) Error() string { return b.text }

func isBomb(err error) bool {
	var b *bomb
	return errors.As(err, &b)
}

// readError is a failure of the disk or pipe below a file.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// tempError is a failure of the folder for temporary files.
type tempError struct {
	name string // of the file that needs one
	err  error
}

func (e *tempError) Error() string {
	err := e.err
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Sprintf("%s: its end must be read first, so it waits in a temporary file, which cannot be made in %s (%v); set TMPDIR to a folder that has room, or unpack it and name it by its path",
		e.name, os.TempDir(), err)
}

func (e *tempError) Unwrap() error { return e.err }

// fail names the file, how far it was read and what is the matter.
func (s *source) fail(err error) error {
	s.shut()
	var disk *readError
	var known *damage
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &disk):
		return fmt.Errorf("%s: at byte %d of the file: %w", s.name, s.raw.n, err)
	case errors.As(err, &known):
		return damaged("%s: %s", s.name, known.text)
	case isBomb(err):
		return fmt.Errorf("%s: %w", s.name, err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return damaged("%s: the compressed file is cut short at byte %d; fetch it again", s.name, s.raw.n)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return damaged("%s: needs more than %d MiB to decompress; unpack it first", s.name, maxWindow>>20)
	}
	return damaged("%s: at byte %d of the file: %v", s.name, s.raw.n, err)
}
