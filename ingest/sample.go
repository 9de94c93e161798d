package ingest

import (
	"bytes"
	"errors"
	"fmt"

	"reprise/ingest/loglines"
	"reprise/ingest/rows"
	"reprise/ingest/source"
	"reprise/ingest/textfile"
)

// sampleRows is how many rows are looked at for their columns.
const sampleRows = 200

// sampleOf reads the names of the columns of the first rows.
func sampleOf(s *source.Source, known []schema, sets []*loglines.Set) (*seen, container, error) {
	c, err := containerOf(s, sets)
	if err != nil {
		return nil, c, err
	}
	if c.whole {
		return sampleWhole(c, s, known)
	}
	for n := 256 << 10; ; n *= 4 {
		n = min(n, rows.MaxBytes+rows.MaxBytes/4)
		head := s.Peek(n)
		sample, err := sampleHead(c, s, known, head)
		enough := s.Failure() != nil || n > rows.MaxBytes
		switch {
		case sample != nil && (sample.rows > 0 || c.named):
			return sample, c, nil
		case !enough:
			continue
		case s.Failure() != nil && !s.Ended():
			return nil, c, s.Fail(s.Failure())
		case err != nil:
			return nil, c, s.Locate(err)
		case sample.first != nil:
			return nil, c, fmt.Errorf("%w (no row of the file could be read as %s)", sample.first, c.name)
		}
		return nil, c, fmt.Errorf("%s: has no row that can be read as %s", s.Name, c.name)
	}
}

func sampleHead(c container, s *source.Source, known []schema, head []byte) (*seen, error) {
	from, err := c.open(s, bytes.NewReader(head))
	if err != nil {
		return nil, err
	}
	return sampleRowsOf(c, known, from), nil
}

// sampleWhole samples a file that is not read from its start.
func sampleWhole(c container, s *source.Source, known []schema) (*seen, container, error) {
	from, err := c.open(s, nil)
	if err != nil {
		return nil, c, s.Locate(err)
	}
	return sampleRowsOf(c, known, from), c, nil
}

func sampleRowsOf(c container, known []schema, from rows.Reader) *seen {
	if r, ok := from.(rows.Closer); ok {
		defer r.Close()
	}
	sample := &seen{names: map[string]int{}, matched: map[string]int{}}
	tests := newMatcher(known)
	if !c.binary { // columnar files would read the columns of the tests alone
		tests.bind(from)
	}
	if c.named { // the header is there, rows or none
		sample.header, sample.counted = true, c.binary
		from.Names(func(path string) { sample.names[path]++ })
	}
	for sample.rows < sampleRows {
		pos, err := from.Next()
		var row *rows.Error
		if errors.As(err, &row) {
			if sample.first == nil {
				row.Pos = pos
				sample.first = row
			}
			continue
		}
		if err != nil {
			break
		}
		sample.rows++
		from.Names(func(path string) { sample.names[path]++ })
		tests.row(from, sample)
		if t, ok := from.(textfile.Counter); ok && !sample.counted {
			sample.counted = t.Counts()
		}
	}
	return sample
}
