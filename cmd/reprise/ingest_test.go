package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stopping is a log that ends the context after so many rows and then hangs.
type stopping struct {
	rows   int
	cancel func()
	buf    bytes.Buffer
	hang   chan struct{}
}

func (s *stopping) Read(p []byte) (int, error) {
	if s.buf.Len() == 0 {
		if s.rows == 0 {
			s.cancel()
			<-s.hang
			return 0, io.EOF
		}
		for range min(s.rows, 100) {
			s.rows--
			fmt.Fprintf(&s.buf, `{"timestamp":%d,"model":"m","prompt":"%s","user":"u%d"}`+"\n", 1_700_000_000+s.rows, strings.Repeat("a word ", 30), s.rows)
		}
	}
	return s.buf.Read(p)
}

// An interrupt leaves nothing behind and says 130, wherever it comes.
func TestIngestInterrupted(t *testing.T) {
	for _, rows := range []int{0, 50, 5000} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		in := &stopping{rows: rows, cancel: cancel, hang: make(chan struct{})}
		var errs bytes.Buffer
		code := run(ctx, []string{"ingest", "-", "--map", "prompt=prompt", "-o", filepath.Join(dir, "out.trace.parquet")}, stdio{in: in, out: io.Discard, err: &errs})
		close(in.hang)
		if left, _ := os.ReadDir(dir); code != exitInterrupted || len(left) > 0 {
			t.Errorf("after %d rows: code %d, %d files are left: %s", rows, code, len(left), errs.String())
		}
	}
}
