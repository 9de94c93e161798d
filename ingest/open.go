package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"reprise/trace"
)

// Inputs says what to read. The paths are read one after the other; "-", and no
// path at all, is Stdin.
type Inputs struct {
	Paths    []string
	Stdin    io.Reader
	Map      *Mapping          // laid over the schema that is recognised; nil for none
	Progress func(bytes int64) // called with the bytes of all files read so far
}

// Log is an opened log. Its rows can be read once.
type Log struct {
	ctx     context.Context
	in      Inputs
	held    map[int]held // inputs that can be read only once, as far as they were looked at
	mapping *Mapping
	schema  Recognised
	columns *seen
	ignore  []string
	sources []trace.Source
	notes   notes
	read    int64 // bytes of the files
	used    bool
}

// Recognised is the source that a log was taken for.
type Recognised struct {
	Name string // of the schema; "mapped" when only the user's mapping is used
	Why  string // one line
}

// Open looks at the start of every input: compression, container, columns,
// schema. It fails where an input is empty, binary or unknown, and where a
// mapped column is not there.
func Open(ctx context.Context, in Inputs) (*Log, error) {
	if len(in.Paths) == 0 {
		in.Paths = []string{"-"}
	}
	known, err := schemas()
	if err != nil {
		return nil, err
	}
	l := &Log{ctx: ctx, in: in, columns: &seen{names: map[string]int{}}, held: map[int]held{}}
	for i, path := range in.Paths {
		if path == "-" && slices.Contains(in.Paths[:i], "-") {
			return nil, errors.New("stdin can be read only once")
		}
		if err := l.look(i, known); err != nil {
			l.drop()
			return nil, err
		}
	}
	return l, nil
}

// held is an open input and how to close it.
type held struct {
	source *source
	done   func()
}

// drop closes the inputs that are held open.
func (l *Log) drop() {
	for _, h := range l.held {
		h.done()
	}
}

// look opens one input, samples it and puts it away again. What cannot be read
// twice (stdin, a pipe, a device) stays open.
func (l *Log) look(i int, known []schema) error {
	path := l.in.Paths[i]
	once := path == "-" || !regular(path)
	var progress func(int64)
	if once {
		progress = l.progress
	}
	s, done, err := l.source(path, progress)
	if err != nil {
		return err
	}
	sample, container, err := sampleOf(s)
	if err == nil {
		err = l.decide(s.name, sample, container, known)
	}
	if err == nil && once {
		l.held[i] = held{s, done}
		return nil
	}
	done()
	return err
}

// regular reports whether a path is a file that can be opened again.
func regular(path string) bool {
	st, err := os.Stat(path)
	return err != nil || st.Mode().IsRegular()
}

// source opens a path; done closes it.
func (l *Log) source(path string, progress func(int64)) (*source, func(), error) {
	if path == "-" {
		if l.in.Stdin == nil {
			return nil, nil, errors.New("no log is given")
		}
		s, err := newSource(l.ctx, "stdin", l.in.Stdin, l.progress)
		return s, func() {}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		f.Close()
		return nil, nil, fmt.Errorf("%s: is a folder; name the files in it", path)
	}
	s, err := newSource(l.ctx, path, f, progress)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return s, func() { s.shut(); f.Close() }, nil
}

// decide picks the mapping from the first input and holds the others to it.
func (l *Log) decide(file string, sample *seen, c container, known []schema) error {
	best, nearest := sample.recognise(known)
	name, why := "mapped", fmt.Sprintf("%s with the columns given by --map", c.name)
	base := &Mapping{}
	switch {
	case best != nil:
		name, base = best.name, &best.mapping
		why = fmt.Sprintf("%s with %s: %s", c.name, requirement(best), best.about)
	case l.in.Map == nil || len(l.in.Map.Fields) == 0:
		return fmt.Errorf("%s: no known log source; columns seen: %s; %s; name columns with --map field=column",
			file, sample.list(), hint(nearest, known))
	}
	if l.mapping != nil && name != l.schema.Name {
		return fmt.Errorf("%s: is a log of source %s and the input before it is of %s; read them in two runs", file, name, l.schema.Name)
	}
	if l.in.Map != nil {
		if err := l.in.Map.check(sample); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		base = l.in.Map.over(base)
	}
	for path, n := range sample.names {
		l.columns.names[path] += n
	}
	l.columns.rows += sample.rows
	l.mapping, l.schema = base, Recognised{Name: name, Why: why}
	if best != nil {
		l.ignore = best.ignore
	}
	return nil
}

// hint names the nearest source, or all of them when none is near.
func hint(nearest *schema, known []schema) string {
	if nearest != nil {
		return fmt.Sprintf("nearest is %s, which has %s", nearest.name, requirement(nearest))
	}
	var names []string
	for _, s := range known {
		names = append(names, s.name)
	}
	return "known are " + strings.Join(names, ", ")
}

// requirement lists what a schema is told by.
func requirement(s *schema) string {
	var out []string
	for _, any := range s.require {
		out = append(out, strings.Join(any, " or "))
	}
	return strings.Join(out, ", ")
}

// progress adds to the bytes read and tells the caller.
func (l *Log) progress(n int64) {
	l.read += n
	if l.in.Progress != nil {
		l.in.Progress(l.read)
	}
}
