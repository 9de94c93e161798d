package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/replay"
	"reprise/sanitize/bundle"
)

// exists tells whether there is something at a path of these parts.
func exists(parts ...string) bool {
	_, err := os.Stat(filepath.Join(parts...))
	return err == nil
}

// isFolder tells whether there is a folder at path.
func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// notAFile says of a folder that was given for a file what it is, and what to
// give.
func notAFile(dir string) error {
	switch {
	case exists(dir, bundle.SpecFile):
		in := filepath.Join(dir, bundle.SpecFile)
		if exists(dir, bundle.TraceFile) {
			in += " or " + filepath.Join(dir, bundle.TraceFile)
		}
		return fmt.Errorf("%s is a bundle: give the file in it that is meant, %s", dir, in)
	case exists(dir, "run.json"):
		return fmt.Errorf("%s is a results folder and not a file: reprise report and reprise show read it", dir)
	case exists(dir, sweepFile):
		return fmt.Errorf("%s is the folder of a sweep and not a file: reprise report and reprise show read it", dir)
	}
	return fmt.Errorf("%s is a folder, and a file is wanted", dir)
}

// openRun opens the results of one run, and says of anything else what it
// is.
func openRun(path string) (*replay.Dir, error) {
	switch in := within(path); {
	case in != "":
		return nil, fmt.Errorf("%s is a file of the results folder %s: give that", path, in)
	case !exists(path):
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case exists(path, "run.json") || !isFolder(path):
		return replay.OpenDir(path)
	case isSweep(path):
		return nil, fmt.Errorf("%s is the folder of a sweep: give a run in it%s", path, suchAs(path))
	case exists(path, bundle.SpecFile):
		return nil, fmt.Errorf("%s is a bundle and no results: reprise replay %s makes results", path, filepath.Join(path, bundle.SpecFile))
	}
	return nil, fmt.Errorf("%s is not a results folder: it has no run.json", path)
}

// openBundle opens a bundle, and says of anything else what it is.
func (s *stdio) openBundle(path string) (*bundle.Bundle, error) {
	if isFolder(path) || !exists(path) {
		return bundle.Open(path)
	}
	a, err := s.open(path)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	what, dir := partOf(path)
	switch {
	case a.starts(zstdMagic):
		return bundle.Open(path)
	case what == "bundle":
		return nil, fmt.Errorf("%s is a file of the bundle %s: give that", path, dir)
	}
	return nil, fmt.Errorf("%s is %s and not a bundle, which is a folder or a .tar.zst that reprise bundle writes", path, a.what())
}

// suchAs names the first run of a sweep that has results.
func suchAs(dir string) string {
	x, err := readSweep(dir)
	if err != nil {
		return ""
	}
	for _, l := range x.Runs {
		if exists(dir, l.Dir, "run.json") {
			return ", such as " + filepath.Join(dir, l.Dir)
		}
	}
	return ""
}

// partOf names the bundle, or the folder of results or of a sweep, that a file
// is part of; what tells which it is. Both are empty when it is of none.
func partOf(path string) (what, dir string) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	if filepath.Base(dir) == bundle.SignDir {
		dir, base = filepath.Dir(dir), bundle.SpecFile
	}
	has := func(of ...string) bool { return slices.Contains(of, base) }
	switch {
	case has(bundle.SpecFile, bundle.TraceFile, bundle.PromptsFile, bundle.AuditFile, bundle.ReviewFile, bundle.ReadmeFile) &&
		exists(dir, bundle.SpecFile) && exists(dir, bundle.AuditFile):
		return "bundle", dir
	case within(path) != "" && (exists(dir, "requests.parquet") || exists(dir, "spool")):
		return "results folder", dir
	case has(sweepFile, "ledger.jsonl") && isSweep(dir):
		return "sweep", dir
	}
	return "", ""
}

// spared refuses an output that would overwrite a part of a bundle, of results
// or of a sweep: none is the same without it.
func spared(output string) error {
	if st, err := os.Stat(output); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	real, err := filepath.EvalSymlinks(output)
	if err != nil {
		return err
	}
	if what, dir := partOf(real); what != "" {
		return usagef("%s is part of the %s %s and would be overwritten; give another name", output, what, dir)
	}
	return nil
}

// inWords says of a file that is not there, or is a folder, what people say.
func inWords(err error) string {
	text := err.Error()
	var p *fs.PathError
	switch {
	case !errors.As(err, &p):
	case errors.Is(p, fs.ErrNotExist):
		return strings.Replace(text, p.Error(), "there is no file or folder "+p.Path, 1)
	case isFolder(p.Path) && p.Op == "read":
		return strings.Replace(text, p.Error(), notAFile(p.Path).Error(), 1)
	}
	return text
}
