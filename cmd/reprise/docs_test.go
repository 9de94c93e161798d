package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The command reference in docs/cli is what `make docs` writes today.
func TestDocsAreCurrent(t *testing.T) {
	dir := t.TempDir()
	if code := run(context.Background(), []string{"docs", dir}, stdio{in: strings.NewReader(""), out: os.Stdout, err: os.Stderr}); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	kept := filepath.Join(module, "docs", "cli")
	want, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(want) < 15 {
		t.Fatalf("%d pages, %v", len(want), err)
	}
	have, err := filepath.Glob(filepath.Join(kept, "*.md"))
	if err != nil || len(have) != len(want) {
		t.Errorf("docs/cli has %d pages, want %d: run make docs", len(have), len(want))
	}
	for _, path := range want {
		a, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(kept, filepath.Base(path)))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is out of date: run make docs", filepath.Base(path))
		}
	}
}
