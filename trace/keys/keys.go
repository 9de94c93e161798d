// Package keys is the file of keyed digests beside a local trace,
// NAME.keys.parquet. A trace numbers its sessions, clients and prefix blocks by
// first appearance, so the numbers of two traces have nothing to do with each
// other. Where both logs were ingested under one key, equal digests tell that a
// session or a prefix of one goes on in the other.
//
// There is a row for each number where it first appears, in the trace's order:
// the request, what was numbered, and the digest. Requests that others continue,
// and those that continue others, have a row each. New blocks of a request come
// in the order of their numbers; those beyond its digests share with nothing.
//
// A digest is 63 bits of an HMAC-SHA256, above zero: at 2^31 different blocks the
// chance that any two are taken for one is 1 in 4. It tells nothing to who lacks the key; the
// file stays with the customer as its trace does.
package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"reprise/trace"
	"reprise/trace/strictjson"
	"reprise/trace/table"
)

// Kind and Version identify the format in the header.
const (
	Kind    = "reprise.keys"
	Version = 1
	metaKey = "reprise"
)

// What is numbered.
type What uint8

// The things that have digests. Request is the id under which a later request
// may name this one, and Parent the one that this request names. Model and
// Adapter are there only where an alias stands for the name.
const (
	Session What = iota
	Client
	Request
	Parent
	Model
	Adapter
	Block
)

var whatNames = []string{"session", "client", "request", "parent", "model", "adapter", "block"}

// Row is one digest.
type Row struct {
	Request int64 // id in the trace
	What    What
	Digest  int64
}

// Header is the JSON under the footer key "reprise". Key tells whether two files
// are of one key without telling which; Trace is the SHA-256 of the trace's
// bytes. The names are those that the policy lets stand, which no alias takes.
type Header struct {
	Kind     string     `json:"kind"`
	Version  int        `json:"version"`
	Tool     trace.Tool `json:"tool"`
	Key      string     `json:"key"`
	Trace    string     `json:"trace_sha256"`
	Models   []string   `json:"allowed_models"`
	Adapters []string   `json:"allowed_adapters"`
	Isolated bool       `json:"isolated_clients"` // blocks of different clients are different
}

var columns = sync.OnceValue(func() *table.Table[Row] {
	return table.New("keys",
		table.Int("request", func(r *Row) *int64 { return &r.Request }),
		table.Enum("what", whatNames, func(r *Row) *What { return &r.What }),
		table.Int("digest", func(r *Row) *int64 { return &r.Digest }))
})

// Path is where the keys of the trace at path are.
func Path(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".parquet"), ".trace") + ".keys.parquet"
}

// Writer writes a file of keys. It is complete after Close.
type Writer struct{ out *table.Writer[Row] }

// NewWriter starts a file on w.
func NewWriter(w io.Writer) *Writer { return &Writer{columns().NewWriter(w)} }

// Write adds a row; requests ascend.
func (w *Writer) Write(r Row) error { return w.out.Write(r) }

// Stop ends a writer that will not be closed.
func (w *Writer) Stop() { w.out.Stop() }

// Close writes the header, of which it knows kind and version itself.
func (w *Writer) Close(h Header) error {
	h.Kind, h.Version = Kind, Version
	if h.Models == nil {
		h.Models = []string{}
	}
	if h.Adapters == nil {
		h.Adapters = []string{}
	}
	meta, err := json.Marshal(h)
	if err != nil {
		return err
	}
	w.out.SetMeta(metaKey, string(meta))
	return w.out.Close()
}

// File is an open file of keys.
type File struct {
	Header Header
	file   *table.File[Row]
}

// Open reads the header and checks the columns; r must stay usable while rows
// are read.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f, err := columns().Open(r, size)
	if err != nil {
		return nil, fmt.Errorf("not a file of keys: %w", err)
	}
	meta, ok := f.Meta(metaKey)
	if !ok {
		return nil, errors.New("not a file of keys: the footer has no reprise header")
	}
	var h Header
	if err := strictjson.Decode([]byte(meta), &h); err != nil {
		return nil, fmt.Errorf("keys header: %w", err)
	}
	switch {
	case h.Kind != Kind:
		return nil, fmt.Errorf("keys header: kind is %q, want %q", h.Kind, Kind)
	case h.Version != Version:
		return nil, fmt.Errorf("keys header: version is %d, this build reads version %d", h.Version, Version)
	}
	return &File{h, f}, nil
}

// NumRows is the number of digests.
func (f *File) NumRows() int64 { return f.file.NumRows() }

// Rows yields the rows a group at a time, in order; the slice is used again. An
// error ends the sequence.
func (f *File) Rows() iter.Seq2[[]Row, error] {
	return f.file.Chunks(columns().Columns()...)
}
