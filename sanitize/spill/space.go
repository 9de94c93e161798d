package spill

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// Space makes temporary files in one folder. Any number of goroutines may use
// it. The zero Space is not usable.
type Space struct {
	dir string

	mu    sync.Mutex
	files map[*os.File]bool // whether its name is still there
	used  int64
	room  int64 // bytes that may be written, below 0 for no limit; for tests
}

// NewSpace returns a space in dir, the system's folder for temporary files
// when dir is empty. Nothing is made before it is needed.
func NewSpace(dir string) *Space {
	if dir == "" {
		dir = os.TempDir()
	}
	return &Space{dir: dir, files: map[*os.File]bool{}, room: -1}
}

// Used returns how many bytes were written in all.
func (s *Space) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Close closes the files, and removes those that still have a name.
func (s *Space) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all error
	for f, named := range s.files {
		all = errors.Join(all, f.Close())
		if named {
			all = errors.Join(all, os.Remove(f.Name()))
		}
	}
	clear(s.files)
	return all
}

// file is a temporary file that is written from start to end.
type file struct {
	*os.File
	space *Space
	size  int64
}

// create makes a file that only its owner can read. Its name is taken away at
// once; where the system does not allow that, Close does it.
func (s *Space) create() (*file, error) {
	f, err := os.CreateTemp(s.dir, ".reprise-*.tmp")
	if err != nil {
		return nil, s.cannot("make", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[f] = os.Remove(f.Name()) != nil
	return &file{File: f, space: s}, nil
}

// drop closes a file that is done with, which frees its room on the disk.
func (f *file) drop() error {
	f.space.mu.Lock()
	defer f.space.mu.Unlock()
	named := f.space.files[f.File]
	delete(f.space.files, f.File)
	err := f.File.Close()
	if named {
		err = errors.Join(err, os.Remove(f.File.Name()))
	}
	return err
}

// Write appends.
func (f *file) Write(p []byte) (int, error) {
	if err := f.space.take(len(p)); err != nil {
		return 0, f.space.cannot("write", err)
	}
	n, err := f.File.Write(p)
	f.size += int64(n)
	if err != nil {
		return n, f.space.cannot("write", err)
	}
	return n, nil
}

func (s *Space) take(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room >= 0 && s.used+int64(n) > s.room {
		return syscall.ENOSPC
	}
	s.used += int64(n)
	return nil
}

// section reads part of a file by itself.
func (f *file) section(off, n int64) io.Reader { return io.NewSectionReader(f.File, off, n) }

// cannot leaves the name of the file out, which nobody can look at.
func (s *Space) cannot(what string, err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("cannot %s temporary files in %s: %w; make room there, or write the trace to a disk that has some", what, s.dir, err)
	}
	return fmt.Errorf("cannot %s temporary files in %s: %w", what, s.dir, err)
}

// errDamaged is what a reader answers when a file is not what was written.
var errDamaged = errors.New("a temporary file is damaged")
