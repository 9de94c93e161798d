package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"reprise/trace/spec"
)

// Code says what kind of reason speaks against a bundle.
type Code string

// The reasons.
const (
	BadSpec          Code = "bad_spec"          // not a spec of this version in its one encoding
	ArtifactMismatch Code = "artifact_mismatch" // a file is changed, missing, a link, or not listed
	BadSignature     Code = "bad_signature"     // does not hold over these bytes for this role
	MissingRole      Code = "missing_role"      // a party has not signed
	UnknownSigner    Code = "unknown_signer"    // the key is not that of the principal named
	OneSigner        Code = "one_signer"        // the same key or principal signed for both sides
	Expired          Code = "expired"           // the key was not valid at the time asked about
	WithdrawnCode    Code = "withdrawn"         // the spec says that it holds no more
	Superseded       Code = "superseded"        // a newer revision replaces it
)

// Reason is one thing that speaks against a bundle.
type Reason struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail"`
}

func reason(c Code, format string, args ...any) Reason {
	return Reason{c, fmt.Sprintf(format, args...)}
}

// maxSmall bounds spec.json, which is read into memory; maxSig a signature.
const (
	maxSmall = 64 << 20
	maxSig   = 64 << 10
)

// artifacts compares the files on disk with those that the spec lists.
func (b *Bundle) artifacts(s *spec.Spec) []Reason {
	var out []Reason
	for _, a := range s.Artifacts {
		if r, ok := b.artifact(a); !ok {
			out = append(out, r)
		}
	}
	return append(out, b.extra(s)...)
}

func (b *Bundle) artifact(want spec.Artifact) (Reason, bool) {
	f, err := b.regular(want.Path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return reason(ArtifactMismatch, "%s is missing", want.Path), false
		}
		return reason(ArtifactMismatch, "%v", err), false
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() != want.Bytes {
		return reason(ArtifactMismatch, "%s has %d bytes, the spec lists %d", want.Path, st.Size(), want.Bytes), false
	}
	got, err := digestOf(f, want.Path)
	if err != nil {
		return reason(ArtifactMismatch, "%v", err), false
	}
	if got != want {
		return reason(ArtifactMismatch, "%s is not the file that the spec lists: its SHA-256 differs", want.Path), false
	}
	return Reason{}, true
}

// extra finds files that nobody signed for, links, and anything else that is
// not a plain file.
func (b *Bundle) extra(s *spec.Spec) []Reason {
	allowed := map[string]bool{SpecFile: true, ReadmeFile: true}
	for _, a := range s.Artifacts {
		allowed[a.Path] = true
	}
	for _, a := range s.Approvals {
		allowed[SignatureFile(a.Role)] = true
	}
	var out []Reason
	err := fs.WalkDir(b.root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if !folderOf(path, allowed) {
				out = append(out, reason(ArtifactMismatch, "the folder %q does not belong to the bundle", path))
				return fs.SkipDir
			}
		case !d.Type().IsRegular():
			out = append(out, reason(ArtifactMismatch, "%q is a link or a device, not a file", path))
		case !allowed[path]:
			out = append(out, reason(ArtifactMismatch, "%q is not listed in the spec", path))
		}
		return nil
	})
	if err != nil {
		out = append(out, reason(ArtifactMismatch, "the bundle cannot be read: %v", cause(err)))
	}
	return out
}

// folderOf reports whether a folder is the bundle's or holds an allowed file.
func folderOf(path string, allowed map[string]bool) bool {
	if path == "." || path == SignDir {
		return true
	}
	for f := range allowed {
		if strings.HasPrefix(f, path+"/") {
			return true
		}
	}
	return false
}
