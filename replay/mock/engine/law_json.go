package engine

import (
	"encoding/json"
	"fmt"

	"reprise/trace/strictjson"
)

// The kind and version of a law's file.
const (
	LawKind    = "reprise.law"
	LawVersion = 1
)

type lawFields Law

// lawFile is a law as it is on disk.
type lawFile struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	lawFields
}

// MarshalJSON writes a law with its kind and version first.
func (l Law) MarshalJSON() ([]byte, error) {
	return json.Marshal(lawFile{LawKind, LawVersion, lawFields(l)})
}

// EncodeLaw returns the one encoding of a law.
func EncodeLaw(l Law) ([]byte, error) { return strictjson.Encode(l) }

// DecodeLaw reads a law as EncodeLaw writes it. Another kind or version,
// unknown keys and figures that Validate refuses are errors.
func DecodeLaw(data []byte) (Law, error) {
	var f lawFile
	if err := strictjson.Decode(data, &f); err != nil {
		return Law{}, fmt.Errorf("law: %w", err)
	}
	switch {
	case f.Kind != LawKind:
		return Law{}, fmt.Errorf("law: kind is %.40q, want %q", f.Kind, LawKind)
	case f.Version != LawVersion:
		return Law{}, fmt.Errorf("law: version is %d, this build reads version %d", f.Version, LawVersion)
	}
	l := Law(f.lawFields)
	if err := l.Validate(); err != nil {
		return Law{}, err
	}
	return l, nil
}
