package ingest

import (
	"io"
	"time"

	"reprise/ingest/source"
)

// Inputs says what to read: files, folders (all files below them), patterns with
// * ? [ and **, and "-" for Stdin, which no path at all means too. They are read
// one after the other, the files of a folder or pattern in order of name.
type Inputs struct {
	Paths    []string
	Stdin    io.Reader
	Map      *Mapping          // laid over the schema that is recognised; nil for none
	Zone     *time.Location    // of times that name none; nil for UTC
	Progress func(bytes int64) // called with the bytes of all files read so far
	Limits   Limits
}

// Limits are those of decompression.
type Limits = source.Limits

// Expand lists the files that paths stand for, those of folders and patterns in
// order of name. Hidden files and those whose name begins with _ are left out,
// as Spark and Hive do.
func Expand(paths []string) ([]string, error) {
	list, err := source.Expand(paths)
	var out []string
	for _, in := range list {
		out = append(out, in.Path)
	}
	return out, err
}
