package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/term"
)

// stdio holds the streams of a command: data goes to out, talk to err.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// errBrokenPipe ends a command quietly when the reader of stdout has gone.
var errBrokenPipe = syscall.EPIPE

// terminal reports whether a stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// talk prints a line of talk.
func (s *stdio) talk(format string, a ...any) { fmt.Fprintf(s.err, "reprise: "+format+"\n", a...) }

// artifact is an input file held open, with the digest of its bytes.
type artifact struct {
	*os.File
	name   string
	size   int64
	sha256 string
	remove bool
}

func (a *artifact) Close() error {
	err := a.File.Close()
	if a.remove {
		err = errors.Join(err, os.Remove(a.File.Name()))
	}
	return err
}

// open opens an input; "-" is stdin, which is spooled to a temporary file,
// since a trace has its index at the end.
func (s *stdio) open(path string) (*artifact, error) {
	a := &artifact{name: path}
	var err error
	if path == "-" {
		a.name = "standard input"
		err = s.spool(a)
	} else {
		a.File, err = os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	if err := a.measure(); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (s *stdio) spool(a *artifact) error {
	if terminal(s.in) {
		return usagef("standard input is a terminal: name a file, or pipe one in")
	}
	f, err := os.CreateTemp("", "reprise-*")
	if err != nil {
		return err
	}
	a.File, a.remove = f, true
	if _, err := io.Copy(f, s.in); err != nil {
		a.Close()
		return fmt.Errorf("reading standard input: %w", err)
	}
	return nil
}

func (a *artifact) measure() error {
	st, err := a.Stat()
	if err != nil {
		return err
	}
	if st.IsDir() {
		return fmt.Errorf("%s is a directory", a.name)
	}
	h := sha256.New()
	a.size, err = io.Copy(h, io.NewSectionReader(a.File, 0, st.Size()))
	if err != nil {
		return fmt.Errorf("reading %s: %w", a.name, err)
	}
	if a.size == 0 {
		return fmt.Errorf("%s is empty", a.name)
	}
	a.sha256 = hex.EncodeToString(h.Sum(nil))
	_, err = a.Seek(0, io.SeekStart)
	return err
}

// bytes reads the whole input.
func (a *artifact) bytes() ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(a.File, 0, a.size))
}

// write gives data to path, or to stdout when path is empty or "-". A file is
// written under a temporary name beside it and renamed when complete, so that
// nothing partial ever has the final name.
func (s *stdio) write(path string, mode os.FileMode, binary bool, fill func(io.Writer) error) error {
	if path == "" || path == "-" {
		if binary && path == "" && terminal(s.out) {
			return usagef("will not write a binary file to the terminal: give -o FILE")
		}
		return fill(s.out)
	}
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	tmp, err := os.CreateTemp(dir, "."+base+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	if err := fill(tmp); err != nil {
		return err
	}
	if err := tmp.Chmod(mode); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := tmp.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.Rename(tmp.Name(), path)
}

// writeBytes is write of a text artifact.
func (s *stdio) writeBytes(path string, data []byte) error {
	return s.write(path, 0o644, false, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
}
