package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"reprise/trace/spec"
)

// digest returns a file's size and SHA-256 under the name that it is listed by.
func digest(path, name string) (spec.Artifact, error) {
	f, err := os.Open(path)
	if err != nil {
		return spec.Artifact{}, err
	}
	defer f.Close()
	return digestOf(f, name)
}

func digestOf(r io.Reader, name string) (spec.Artifact, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	if err != nil {
		return spec.Artifact{}, fmt.Errorf("%s: %w", name, err)
	}
	return spec.Artifact{Path: name, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// forbidden lists what no file may hold: the caller's strings and the hashes
// of the log files.
func (in *Input) forbidden() []string {
	var out []string
	for _, s := range in.Forbidden {
		if s != "" {
			out = append(out, s)
		}
	}
	if in.Trace != nil {
		for _, s := range in.Trace.Header.Sources {
			if s.SHA256 != "" {
				out = append(out, s.SHA256)
			}
		}
	}
	return out
}

// searchAll refuses a directory of which a file holds one of the strings. It
// looks at the bytes on disk; the strings of a trace, which are compressed
// there, are looked at in searchTrace.
func searchAll(dir string, forbidden []string) error {
	if len(forbidden) == 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		for _, s := range forbidden {
			if bytes.Contains(data, []byte(s)) {
				return fmt.Errorf("%s holds a string that must not leave", e.Name())
			}
		}
	}
	return nil
}
