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
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/term"

	"reprise/replay/report"
)

// stdio holds the streams of a command: data goes to out, talk to err.
type stdio struct {
	in       io.Reader
	out, err io.Writer
	headroom bool   // test the client's headroom before a run
	hurry    *hurry // of the process's signals; nil: there are none
}

// errBrokenPipe ends a command quietly when the reader of stdout has gone.
var errBrokenPipe = syscall.EPIPE

// terminal reports whether a stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns is the width of a terminal now, 0 where that is not known.
func columns(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// width is how many columns what goes to an output may have: those of the
// terminal where it goes to one, at most what a report has, and else that.
func (s *stdio) width(output string) int {
	const least = 40
	w := columns(s.out)
	if output != "" && output != "-" || w <= 0 {
		return report.TextWidth
	}
	return min(max(w, least), report.TextWidth)
}

// rowWidth is width for output that is also searched by line: what goes to no
// terminal is not broken into lines at all.
func (s *stdio) rowWidth(output string) int {
	const unbroken = 1 << 20
	if output != "" && output != "-" || !terminal(s.out) {
		return unbroken
	}
	return s.width(output)
}

// talk prints a line of talk.
func (s *stdio) talk(format string, a ...any) {
	fmt.Fprintf(s.err, "reprise: %s\n", visible(fmt.Sprintf(format, a...)))
}

// visible shows control characters by their codes, so that no name or text of
// an input can steer the terminal.
func visible(text string) string {
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if steers(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func steers(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// sticky remembers the first error of a writer whose callers do not ask.
type sticky struct {
	w   io.Writer
	err error
}

func (s *sticky) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}

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
		if terminal(s.in) {
			return nil, usagef("standard input is a terminal: name a file, or pipe one in")
		}
		err = a.spool(s.in)
	} else {
		err = a.openPath(path)
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

// openPath opens a file; a pipe or a device is spooled like standard input.
func (a *artifact) openPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil || st.Mode().IsRegular() || st.IsDir() {
		a.File = f
		return err
	}
	defer f.Close()
	return a.spool(f)
}

func (a *artifact) spool(r io.Reader) error {
	f, err := os.CreateTemp("", "reprise-*")
	if err != nil {
		return noTemp(err)
	}
	a.File, a.remove = f, true
	if _, err := io.Copy(f, r); err != nil {
		a.Close()
		if of := (*os.PathError)(nil); errors.As(err, &of) && of.Path == f.Name() {
			return noTemp(err)
		}
		return fmt.Errorf("reading %s: %w", a.name, err)
	}
	return nil
}

// noTemp is a failure of the folder for temporary files, with what to do.
func noTemp(err error) error {
	if of := (*os.PathError)(nil); errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("standard input, pipes and what is packed wait in a temporary file, which cannot be made in %s (%w); set TMPDIR to a folder that has room", os.TempDir(), err)
}

func (a *artifact) measure() error {
	st, err := a.Stat()
	if err != nil {
		return err
	}
	if st.IsDir() {
		return notAFile(a.name)
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

// starts reports whether the input begins with a magic number.
func (a *artifact) starts(magic string) bool {
	head := make([]byte, len(magic))
	_, err := a.ReadAt(head, 0)
	return err == nil && string(head) == magic
}

// bytes reads the whole input.
func (a *artifact) bytes() ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(a.File, 0, a.size))
}

// write gives data to path, or to stdout when path is empty or "-". A file is
// written under a temporary name beside it and renamed when complete, so that
// nothing partial ever has the final name. A pipe or a device is written to as
// it is, and a link leads to its target.
func (s *stdio) write(path string, mode os.FileMode, binary bool, fill func(io.Writer) error) error {
	if path == "" || path == "-" {
		if binary && path == "" && terminal(s.out) {
			return usagef("will not write a binary file to the terminal: give -o FILE")
		}
		out := &sticky{w: s.out}
		if err := fill(out); err != nil {
			return err
		}
		return out.err
	}
	if err := writable(path); err != nil {
		return err
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return throughTo(path, fill)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	tmp, err := os.CreateTemp(dir, "."+base+".*")
	if err != nil {
		return cannotWrite(path, err)
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	err = fill(tmp)
	var of *os.PathError
	switch {
	case errors.As(err, &of) && of.Path == tmp.Name():
		return cannotWrite(path, err)
	case err != nil:
		return err
	}
	if err := errors.Join(tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return cannotWrite(path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// writable says, before any work is done, whether a file can be made at path.
func writable(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return fmt.Errorf("%s is a folder: give the name of a file to write", path)
	}
	dir := filepath.Dir(path)
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("cannot write %s: there is no folder %s", path, dir)
	case err != nil:
		return cannotWrite(path, err)
	case !st.IsDir():
		return fmt.Errorf("cannot write %s: %s is not a folder", path, dir)
	}
	return nil
}

// cannotWrite leaves out the name of the temporary file.
func cannotWrite(path string, err error) error {
	var p *os.PathError
	var l *os.LinkError
	if errors.As(err, &p) {
		err = p.Err
	} else if errors.As(err, &l) {
		err = l.Err
	}
	return fmt.Errorf("cannot write %s: %w", path, err)
}

// throughTo writes to what is there already, such as a pipe.
func throughTo(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := fill(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// distinct refuses an output that is one of the inputs.
func distinct(output string, inputs ...string) error {
	out, err := os.Stat(output)
	if err != nil || !out.Mode().IsRegular() {
		return nil
	}
	for _, in := range inputs {
		if st, err := os.Stat(in); err == nil && os.SameFile(st, out) {
			return usagef("%s is an input and would be overwritten; give another name by -o", output)
		}
	}
	return nil
}

// writeBytes is write of a text artifact.
func (s *stdio) writeBytes(path string, data []byte) error {
	return s.write(path, 0o644, false, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
}
