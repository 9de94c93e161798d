package main

import (
	"fmt"
	"os"

	"reprise/ingest"
)

// talkFiles says what was found in the files, and which were left out.
func (s *stdio) talkFiles(log *ingest.Log) {
	for _, f := range log.Found() {
		if f.Files > 1 {
			s.talk("read %d %s files of source %s", f.Files, f.Container, f.Name)
		}
	}
	const most = 10
	skipped := log.Skipped()
	for i, f := range skipped {
		if i == most {
			s.talk("left out %d more files", len(skipped)-most)
			return
		}
		what := "left out"
		if f.Broken {
			what = "broken file, rows may be missing"
		}
		s.talk("%s: %s: %s", what, f.File, f.Why)
	}
}

// tooBroken is an error when more than the share of the files could not be read
// to their end: of how many rows that is, nobody knows.
func tooBroken(log *ingest.Log, share float64) error {
	if b := log.Broken(); b > share {
		return fmt.Errorf("%.3g %% of the files are broken, more than --max-bad %.3g %%; nothing is written: fetch them again, or give --max-bad %.0f%%",
			100*b, 100*share, 100*b+0.5)
	}
	return nil
}

// inputSize is the size of all files that paths stand for, 0 when one is no file.
func inputSize(paths []string) int64 {
	files, err := ingest.Expand(paths)
	if err != nil {
		return 0
	}
	var n int64
	for _, p := range files {
		st, err := os.Stat(p)
		if err != nil || !st.Mode().IsRegular() {
			return 0
		}
		n += st.Size()
	}
	return n
}
