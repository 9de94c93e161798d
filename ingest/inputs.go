package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Inputs says what to read: files, folders (all files below them), patterns with
// * ? [ and **, and "-" for Stdin, which no path at all means too. They are read
// one after the other, the files of a folder or pattern in order of name.
type Inputs struct {
	Paths    []string
	Stdin    io.Reader
	Map      *Mapping          // laid over the schema that is recognised; nil for none
	Zone     *time.Location    // of times that name none; nil for UTC
	Progress func(bytes int64) // called with the bytes of all files read so far
	Limits   Limits
}

// Limits are those of decompression; zero fields take the defaults. A file may
// grow to Floor bytes freely and above that to Ratio times its size, and never
// beyond Total.
type Limits struct {
	Floor int64 // 64 MiB
	Ratio int64 // 1000
	Total int64 // 16 TiB
}

func (l Limits) orDefault() Limits {
	if l.Floor <= 0 {
		l.Floor = 64 << 20
	}
	if l.Ratio <= 0 {
		l.Ratio = 1000
	}
	if l.Total <= 0 {
		l.Total = 16 << 40
	}
	return l
}

// input is one file to read. One that the user named must be a log; one that was
// found in a folder may be something else and is then left out, and said.
type input struct {
	path  string
	named bool
}

// Expand lists the files that paths stand for, those of folders and patterns in
// order of name. Hidden files and those whose name begins with _ are left out,
// as Spark and Hive do.
func Expand(paths []string) ([]string, error) {
	list, err := expand(paths)
	var out []string
	for _, in := range list {
		out = append(out, in.path)
	}
	return out, err
}

func expand(paths []string) ([]input, error) {
	var out []input
	for i, p := range paths {
		if p == "-" {
			if slices.Contains(paths[:i], "-") {
				return nil, errors.New("stdin can be read only once")
			}
			out = append(out, input{"-", true})
			continue
		}
		st, err := os.Stat(p)
		switch {
		case err == nil && st.IsDir():
			err = walk(p, func(string) bool { return true }, &out)
			if err == nil && (len(out) == 0 || out[len(out)-1].named) {
				err = fmt.Errorf("%s: has no file in it", p)
			}
		case err == nil:
			out = append(out, input{p, true})
		case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(p, "*?["):
			before := len(out)
			if err = glob(p, &out); err == nil && len(out) == before {
				err = fmt.Errorf("%s: no file matches", p)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// glob adds what a pattern matches; a matching folder stands for its files.
func glob(pattern string, out *[]input) error {
	if !strings.Contains(pattern, "**") {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return fmt.Errorf("%s: %w", pattern, err)
		}
		for _, p := range found {
			if err := walk(p, func(string) bool { return true }, out); err != nil {
				return err
			}
		}
		return nil
	}
	pattern = filepath.ToSlash(pattern)
	root, _, _ := strings.Cut(pattern, "**")
	if at := strings.LastIndexByte(root, '/'); at >= 0 {
		root = root[:at+1]
	} else {
		root = "."
	}
	if strings.ContainsAny(root, "*?[") {
		return fmt.Errorf("%s: ** must come before other wildcards", pattern)
	}
	want := strings.Split(path.Clean(pattern), "/")
	return walk(root, func(p string) bool { return matches(want, strings.Split(filepath.ToSlash(p), "/")) }, out)
}

// matches compares a path with a pattern step by step; ** is any number of steps.
func matches(want, steps []string) bool {
	for len(want) > 0 {
		if want[0] == "**" {
			for i := range len(steps) + 1 {
				if matches(want[1:], steps[i:]) {
					return true
				}
			}
			return false
		}
		if len(steps) == 0 {
			return false
		}
		if ok, err := path.Match(want[0], steps[0]); err != nil || !ok {
			return false
		}
		want, steps = want[1:], steps[1:]
	}
	return len(steps) == 0
}

// walk adds the files below root, which may be a file itself.
func walk(root string, take func(string) bool, out *[]input) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == root:
			return err
		case err != nil: // reading it fails again, and is said then
			*out = append(*out, input{p, false})
			return nil
		case p != root && hidden(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || !take(p):
			return nil
		}
		if st, err := os.Stat(p); err == nil && !st.Mode().IsRegular() && p != root {
			return nil // links to folders, sockets, devices
		}
		*out = append(*out, input{p, false})
		return nil
	})
}

// hidden names are no data in any tool's folders: .DS_Store, .part.crc,
// _SUCCESS, _delta_log. A folder such as _day=1 is data.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || (strings.HasPrefix(name, "_") && !strings.Contains(name, "="))
}
