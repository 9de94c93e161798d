package ingest

import (
	"bytes"
	"errors"
	"fmt"

	"reprise/ingest/rows"
)

// sampleRows is how many rows are looked at for their columns.
const sampleRows = 200

// sampleOf reads the names of the columns of the first rows.
func sampleOf(s *source) (*seen, container, error) {
	c, err := containerOf(s)
	if err != nil {
		return nil, c, err
	}
	if c.whole {
		return sampleWhole(c, s)
	}
	for n := 256 << 10; ; n *= 4 {
		n = min(n, rows.MaxBytes+rows.MaxBytes/4)
		head := s.peek(n)
		sample, err := sampleHead(c, s, head)
		enough := s.err != nil || n > rows.MaxBytes
		switch {
		case sample != nil && (sample.rows > 0 || c.named):
			return sample, c, nil
		case !enough:
			continue
		case s.err != nil && !s.ended():
			return nil, c, s.fail(s.err)
		case err != nil:
			return nil, c, s.locate(err)
		case sample.first != nil:
			return nil, c, fmt.Errorf("%w (no row of the file could be read as %s)", sample.first, c.name)
		}
		return nil, c, fmt.Errorf("%s: has no row that can be read as %s", s.name, c.name)
	}
}

func sampleHead(c container, s *source, head []byte) (*seen, error) {
	from, err := c.open(s, bytes.NewReader(head))
	if err != nil {
		return nil, err
	}
	return sampleRowsOf(c, s, from), nil
}

// sampleWhole samples a file that is not read from its start.
func sampleWhole(c container, s *source) (*seen, container, error) {
	from, err := c.open(s, nil)
	if err != nil {
		return nil, c, s.locate(err)
	}
	return sampleRowsOf(c, s, from), c, nil
}

func sampleRowsOf(c container, s *source, from rows.Reader) *seen {
	if r, ok := from.(rows.Closer); ok {
		defer r.Close()
	}
	sample := &seen{names: map[string]int{}, matched: map[string]int{}}
	tests := newMatcher(s.known)
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
		if t, ok := from.(*table); ok && !sample.counted {
			sample.counted = t.counts()
		}
	}
	return sample
}
