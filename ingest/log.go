package ingest

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"reprise/trace"
)

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
		defer l.drop()
		for i := range l.in.Paths {
			if !l.file(i, yield) {
				return
			}
		}
	}
}

// file yields the rows of one input and reports whether to go on.
func (l *Log) file(i int, yield func(Record, error) bool) bool {
	h, open := l.held[i]
	if !open {
		var err error
		if h.source, h.done, err = l.source(l.in.Paths[i], l.progress); err != nil {
			yield(Record{}, err)
			return false
		}
		defer h.done()
	}
	s := h.source
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
