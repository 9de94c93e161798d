package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Input is one file to read. One that the user named must be a log; one that was
// found in a folder may be something else and is then left out, and said.
type Input struct {
	Path  string
	Named bool
}

// Expand lists the files that paths stand for, in order; "-" is stdin.
func Expand(paths []string) ([]Input, error) {
	var out []Input
	for i, p := range paths {
		if p == "-" {
			if slices.Contains(paths[:i], "-") {
				return nil, errors.New("stdin can be read only once")
			}
			out = append(out, Input{"-", true})
			continue
		}
		st, err := os.Stat(p)
		switch {
		case err == nil && st.IsDir():
			err = walk(p, func(string) bool { return true }, &out)
			if err == nil && (len(out) == 0 || out[len(out)-1].Named) {
				err = fmt.Errorf("%s: has no file in it", p)
			}
		case err == nil:
			out = append(out, Input{p, true})
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
func glob(pattern string, out *[]Input) error {
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
func walk(root string, take func(string) bool, out *[]Input) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == root:
			return err
		case err != nil: // reading it fails again, and is said then
			*out = append(*out, Input{p, false})
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
		*out = append(*out, Input{p, false})
		return nil
	})
}

// hidden names are no data in any tool's folders: .DS_Store, .part.crc,
// _SUCCESS, _delta_log. A folder such as _day=1 is data.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || (strings.HasPrefix(name, "_") && !strings.Contains(name, "="))
}
