package main

import (
	"fmt"

	"reprise/trace/spec"
)

// readSpec reads a spec strictly and returns it with the digest of its bytes.
func (s *stdio) readSpec(path string) (*spec.Spec, string, error) {
	in, err := s.open(path)
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	if in.starts("PAR1") {
		return nil, "", fmt.Errorf("%s is a trace and not a spec: reprise fit makes a spec of it", in.name)
	}
	data, err := in.bytes()
	if err != nil {
		return nil, "", err
	}
	sp, err := spec.Decode(data)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", in.name, err)
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
