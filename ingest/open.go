package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
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
	Progress func(bytes int64) // called with the bytes of the files as they are read
}

// Log is an opened log. Its rows can be read once.
type Log struct {
	ctx     context.Context
	in      Inputs
	stdin   *source // stdin as far as it was looked at
	mapping *Mapping
	schema  Recognised
	columns *seen
	ignore  []string
	sources []trace.Source
	notes   notes
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
	l := &Log{ctx: ctx, in: in, columns: &seen{names: map[string]int{}}}
	for _, path := range in.Paths {
		if err := l.look(path, known); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// look opens one input, samples it and puts it away again.
func (l *Log) look(path string, known []schema) error {
	if path == "-" && l.stdin != nil {
		return errors.New("stdin can be read only once")
	}
	s, done, err := l.source(path, nil)
	if err != nil {
		return err
	}
	sample, container, err := sampleOf(s)
	if err == nil {
		err = l.decide(s.name, sample, container, known)
	}
	if err == nil && path == "-" {
		l.stdin = s
		return nil
	}
	done()
	return err
}

// source opens a path; done closes it.
func (l *Log) source(path string, progress func(int64)) (*source, func(), error) {
	if path == "-" {
		if l.in.Stdin == nil {
			return nil, nil, errors.New("no log is given")
		}
		s, err := newSource(l.ctx, "stdin", l.in.Stdin, l.in.Progress)
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

// sampleRows is how many rows are looked at for their columns.
const sampleRows = 200

// sampleOf reads the names of the columns of the first rows.
func sampleOf(s *source) (*seen, container, error) {
	c, err := containerOf(s)
	if err != nil {
		return nil, c, err
	}
	for n := 256 << 10; ; n *= 4 {
		head := s.peek(n)
		sample, err := sampleHead(c, s, head)
		enough := s.err != nil || n > 2*maxRow
		switch {
		case sample != nil && (sample.rows > 0 || c.name == "CSV"):
			return sample, c, nil
		case !enough:
			continue
		case s.err != nil && !s.ended():
			return nil, c, s.fail(s.err)
		case err != nil:
			return nil, c, err
		case sample.first != nil:
			return nil, c, fmt.Errorf("%w (no row of the file could be read as %s)", sample.first, c.name)
		}
		return nil, c, fmt.Errorf("%s: has no row that can be read as %s", s.name, c.name)
	}
}

func sampleHead(c container, s *source, head []byte) (*seen, error) {
	rows, err := c.open(s, bytes.NewReader(head))
	if err != nil {
		return nil, err
	}
	sample := &seen{names: map[string]int{}}
	if c.name == "CSV" { // the header is there, rows or none
		sample.header = true
		rows.names(func(path string) { sample.names[path]++ })
	}
	for sample.rows < sampleRows {
		_, err := rows.next()
		var row *RowError
		if errors.As(err, &row) {
			if sample.first == nil {
				sample.first = row
			}
			continue
		}
		if err != nil {
			return sample, nil
		}
		sample.rows++
		rows.names(func(path string) { sample.names[path]++ })
	}
	return sample, nil
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

// Schema says what the log was taken for, and why.
func (l *Log) Schema() Recognised { return l.schema }

// Covered returns the fields that the first rows have a column for.
func (l *Log) Covered() []Field {
	var out []Field
	for _, f := range l.mapping.fields() {
		if slices.ContainsFunc(l.mapping.Fields[f], func(c Column) bool { return l.columns.has(c.Path) }) {
			out = append(out, f)
		}
	}
	return out
}

// Unmapped returns the columns of the first rows that no field is taken from,
// parts of a mapped column left out, in order of name. They are names of the
// customer's: for the customer's eyes.
func (l *Log) Unmapped() []string {
	p := newPlan(l.mapping)
	var out []string
	for _, name := range sortedKeys(l.columns.names) {
		leaf := true
		for other := range l.columns.names {
			leaf = leaf && !strings.HasPrefix(other, name+".")
		}
		if leaf && !p.root.covers(name) && !slices.Contains(l.ignore, name) {
			out = append(out, name)
		}
	}
	return out
}

// Sources returns size and digest of the files, complete once the records have
// been read to their end.
func (l *Log) Sources() []trace.Source { return slices.Clone(l.sources) }

// Notes says what was assumed while reading, one line each.
func (l *Log) Notes() []string {
	var out []string
	if l.notes.naive > 0 {
		out = append(out, fmt.Sprintf("%d times have no zone and were read as UTC", l.notes.naive))
	}
	if l.notes.guessed > 0 {
		out = append(out, fmt.Sprintf("%d times are small numbers and were read as seconds from the log's start; give the unit, as in --map arrival=column@ms, if they are not", l.notes.guessed))
	}
	return out
}

// Records yields the rows of all inputs in order. It can be ranged over once.
func (l *Log) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if l.used {
			yield(Record{}, errors.New("the records of a log can be read only once"))
			return
		}
		l.used = true
		for _, path := range l.in.Paths {
			if !l.file(path, yield) {
				return
			}
		}
	}
}

// file yields the rows of one input and reports whether to go on.
func (l *Log) file(path string, yield func(Record, error) bool) bool {
	s, done := l.stdin, func() {}
	if path != "-" {
		var err error
		if s, done, err = l.source(path, l.in.Progress); err != nil {
			yield(Record{}, err)
			return false
		}
	}
	defer done()
	c, err := containerOf(s)
	if err != nil {
		yield(Record{}, err)
		return false
	}
	rows, err := c.open(s, s.reader())
	if err != nil {
		yield(Record{}, err)
		return false
	}
	if more, err := l.rows(rows, yield); err != nil {
		yield(Record{}, s.locate(err))
		return false
	} else if !more {
		return false
	}
	source, err := s.finish()
	if err != nil {
		yield(Record{}, err)
		return false
	}
	l.sources = append(l.sources, source)
	return true
}

// rows yields until the file ends; err is what ended it too early.
func (l *Log) rows(rows rows, yield func(Record, error) bool) (more bool, err error) {
	b := &builder{plan: newPlan(l.mapping), mapping: l.mapping}
	defer func() { l.notes.naive += b.notes.naive; l.notes.guessed += b.notes.guessed }()
	for {
		pos, err := rows.next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return true, nil
		}
		var row *RowError
		if err != nil && !errors.As(err, &row) {
			return false, err
		}
		r := Record{Pos: pos}
		if row == nil {
			if row = rows.fill(b.plan); row == nil {
				r, row = b.build(pos)
			}
		}
		if row == nil {
			if !yield(r, nil) {
				return false, nil
			}
			continue
		}
		row.Pos = pos
		if !yield(Record{Pos: pos}, row) {
			return false, nil
		}
	}
}
