package main

import (
	"fmt"
	"io"

	"reprise/trace/keys"
)

// shownKeys is the file of keyed digests beside a local trace.
type shownKeys struct {
	f  *keys.File
	in *artifact
}

func (a *shownKeys) value() any               { return a.f.Header }
func (a *shownKeys) rows() (rowSource, error) { return rowSource{}, errNoRows }

func (a *shownKeys) text(w io.Writer) error {
	h := a.f.Header
	pairs(w, "keys of a local trace, version 1, "+a.in.name,
		[2]string{"digests", fmt.Sprint(a.f.NumRows())},
		[2]string{"made under key", h.Key + " (a digest of the key, which is not here)"},
		[2]string{"of the trace", h.Trace},
		[2]string{"use", "reprise fit tells by it what goes on from one trace to another"},
		[2]string{"leaves", "no: it stays with the customer"},
		[2]string{"made by", made(h.Tool)},
		[2]string{"sha256", a.in.sha256})
	return nil
}
