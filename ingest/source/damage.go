package source

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

// Damaged is damage told in our own words: bytes that are not what a format asks
// for.
func Damaged(format string, args ...any) error { return &damage{fmt.Sprintf(format, args...)} }

// bomb is a file that grows beyond the limits when it is unpacked.
type bomb struct{ text string }

func (b *bomb) Error() string { return b.text }

// IsBomb tells a file that grows beyond the limits when it is unpacked.
func IsBomb(err error) bool {
	var b *bomb
	return errors.As(err, &b)
}

// IsBroken tells a file that cannot be read from one that is no log.
func IsBroken(err error) bool {
	var damaged *damage
	var path *fs.PathError
	return errors.As(err, &damaged) || errors.As(err, &path)
}

// DiskFailed marks an error as a failure of the disk or pipe below a file.
func DiskFailed(err error) error { return &readError{err} }

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

// Fail names the file, how far it was read and what is the matter.
func (s *Source) Fail(err error) error {
	s.shut()
	var disk *readError
	var known *damage
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &disk):
		return fmt.Errorf("%s: at byte %d of the file: %w", s.Name, s.raw.n, err)
	case errors.As(err, &known):
		return Damaged("%s: %s", s.Name, known.text)
	case IsBomb(err):
		return fmt.Errorf("%s: %w", s.Name, err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return Damaged("%s: the compressed file is cut short at byte %d; fetch it again", s.Name, s.raw.n)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return Damaged("%s: needs more than %d MiB to decompress; unpack it first", s.Name, maxWindow>>20)
	}
	return Damaged("%s: at byte %d of the file: %v", s.Name, s.raw.n, err)
}

// IsEnd says that an error is the end of a file and no more.
func IsEnd(err error) bool { return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) }
