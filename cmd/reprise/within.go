package main

import (
	"os"
	"path/filepath"
	"slices"
)

// within returns the results folder that a file belongs to, empty when it is of
// none.
func within(path string) string {
	dir := filepath.Dir(path)
	files := []string{"requests.parquet", "health.parquet", "server.parquet", "run.json"}
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err != nil || !slices.Contains(files, filepath.Base(path)) {
		return ""
	}
	return dir
}

// ofResults adds to the error of reading a file that it is part of a results
// folder, where it is.
func ofResults(err error, path string) error {
	if dir := within(path); err != nil && dir != "" {
		return withHint(err, "this file is part of the results folder %s: reprise report %s, or reprise show %s", dir, dir, dir)
	}
	return err
}
