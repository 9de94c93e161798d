package main

import (
	"path/filepath"
	"testing"
)

// A folder named twice, in whatever way, is refused.
func TestAFolderTwice(t *testing.T) {
	dir := t.TempDir()
	seen := map[string]bool{}
	for _, c := range []struct {
		path string
		ok   bool
	}{{dir, true}, {dir + "/", false}, {filepath.Join(dir, "x", ".."), false}, {t.TempDir(), true}} {
		if err := again(c.path, seen); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.path, err)
		}
	}
}
