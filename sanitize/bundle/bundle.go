// Package bundle makes, checks and signs the folder that leaves: a signed spec
// and what it lists (artifacts.md §3).
//
//	Write   spec + local trace + leakage profile -> a directory, all or nothing
//	Open    a directory or a .tar.zst; Verify and Sign work on what it returns
//	Pack, Unpack   the directory as one .tar.zst, deterministic and bounded
//
// Profiles: exact sends every request without its client; aggregate sends the
// spec alone, with every statistic that rests on too few requests (k) or
// clients (u) held back and listed. What leaves is read back from disk and
// described in audit.json and, for a person, in review.html.
//
// spec.json is the only signed file; it lists every other file but README.txt
// and signatures/ by size and SHA-256. Lists of allowed signers come from the
// caller, never from a bundle.
//
// The package does not fit, and it does not look for secrets in text: no text
// reaches it.
package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"reprise/trace/spec"
)

// The files of a bundle.
const (
	SpecFile    = "spec.json"
	TraceFile   = "trace.parquet"
	PromptsFile = "prompts.parquet"
	AuditFile   = "audit.json"
	ReviewFile  = "review.html"
	ReadmeFile  = "README.txt"
	SignDir     = "signatures"
)

// The namespaces of the two signatures: the role is part of what is signed, so
// one party's signature cannot stand in for the other's.
const (
	CustomerNamespace = "customer-approval.v1@reprise"
	VendorNamespace   = "vendor-acceptance.v1@reprise"
)

// The roles of artifacts.md §2.
const (
	Customer = "customer"
	Vendor   = "vendor"
)

// Namespace returns the namespace that a role signs in.
func Namespace(role string) (string, error) {
	switch role {
	case Customer:
		return CustomerNamespace, nil
	case Vendor:
		return VendorNamespace, nil
	}
	return "", fmt.Errorf("role is %q, want customer or vendor", role)
}

// SignatureFile returns the path of a role's signature inside a bundle.
func SignatureFile(role string) string { return SignDir + "/" + SpecFile + "." + role + ".sig" }

// known lists every path that a bundle of version 1 may hold.
func known() []string {
	return []string{ReadmeFile, AuditFile, PromptsFile, ReviewFile, SignatureFile(Customer), SignatureFile(Vendor), SpecFile, TraceFile}
}

// Bundle is an open bundle. Its files are read through an os.Root, so that a
// link inside cannot lead outside.
type Bundle struct {
	// Spec is the spec as it was at Open; the zero Spec when it cannot be
	// decoded, which Verify reports as bad_spec.
	Spec *spec.Spec

	root   *os.Root
	dir    string
	packed string // the .tar.zst that it came from
	shown  []byte // the spec.json that Ready gave
}

// Open opens a bundle: a directory, or a .tar.zst, which is unpacked to a
// temporary directory until Close. It checks no more than that there is a
// spec.json; that the bundle holds is for Verify to say.
func Open(path string) (*Bundle, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	if st.IsDir() {
		return openDir(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	defer f.Close()
	tmp, err := os.MkdirTemp("", "bundle-")
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	if err := Unpack(f, filepath.Join(tmp, "bundle")); err != nil {
		os.RemoveAll(tmp)
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b, err := openDir(filepath.Join(tmp, "bundle"))
	if err != nil {
		os.RemoveAll(tmp)
		return nil, err
	}
	b.packed = path
	return b, nil
}

func openDir(dir string) (*Bundle, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	if _, err := root.Lstat(SpecFile); err != nil {
		root.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not a bundle: it has no %s", dir, SpecFile)
		}
		return nil, fmt.Errorf("bundle: %w", err)
	}
	b := &Bundle{root: root, dir: dir, Spec: &spec.Spec{}}
	if s, _, err := b.load(); err == nil {
		b.Spec = s
	}
	return b, nil
}

// Dir returns the directory that holds the files; for a packed bundle it goes
// with Close.
func (b *Bundle) Dir() string { return b.dir }

// Close releases the bundle and removes what Open unpacked.
func (b *Bundle) Close() error {
	err := b.root.Close()
	if b.packed != "" {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(b.dir)))
	}
	return err
}

// load reads and strictly decodes the spec, and returns its exact bytes too:
// those are what signatures cover.
func (b *Bundle) load() (*spec.Spec, []byte, error) {
	raw, err := b.read(SpecFile, maxSmall)
	if err != nil {
		return nil, nil, err
	}
	s, err := spec.Decode(raw)
	if err != nil {
		return nil, raw, err
	}
	return s, raw, nil
}

// read returns a regular file of at most limit bytes.
func (b *Bundle) read(name string, limit int64) ([]byte, error) {
	f, err := b.regular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return data, nil
}

// errNotRegular marks links, devices and directories in the place of a file.
var errNotRegular = errors.New("not a regular file")

// regular opens a file after checking, without following links, that it is one.
func (b *Bundle) regular(name string) (*os.File, error) {
	st, err := b.root.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, errNotRegular)
	}
	f, err := b.root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	return f, nil
}

// cause drops the path that an error of package os repeats.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// isKnown reports whether a path is one of a bundle's.
func isKnown(name string) bool { return slices.Contains(known(), name) }
