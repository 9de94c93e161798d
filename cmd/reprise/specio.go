package main

import (
	"os"
	"path/filepath"

	"reprise/sanitize/bundle"
	"reprise/trace/spec"
)

// zstdMagic begins a packed bundle (RFC 8878, 3.1.1).
const zstdMagic = "\x28\xb5\x2f\xfd"

// specIn is the spec.json of a bundle's folder, and any other path as it is.
func specIn(path string) string {
	in := filepath.Join(path, bundle.SpecFile)
	if st, err := os.Stat(in); path != "-" && err == nil && st.Mode().IsRegular() {
		return in
	}
	return path
}

// readSpec reads a spec strictly and returns it with the digest of its bytes; a
// bundle's folder stands for the spec in it.
func (s *stdio) readSpec(path string) (*spec.Spec, string, error) {
	in, err := s.open(specIn(path))
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	if in.starts("PAR1") || in.starts(zstdMagic) {
		return nil, "", in.noSpec()
	}
	data, err := in.bytes()
	if err != nil {
		return nil, "", err
	}
	sp, err := spec.Decode(data)
	if err != nil {
		return nil, "", in.otherSpec(err)
	}
	return sp, in.sha256, nil
}

func (s *stdio) writeSpec(path string, sp *spec.Spec) error {
	data, err := spec.Encode(sp)
	if err != nil {
		return err
	}
	return s.writeBytes(path, data)
}
