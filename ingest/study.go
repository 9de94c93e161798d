package ingest

import (
	"bytes"
	"errors"
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/rows"
	"reprise/ingest/shape"
	"reprise/ingest/source"
)

// maxStudied is how many files of a source are read at their start for what
// their counts include. More of the same tell nothing new.
const maxStudied = 20

// deep says that the columns of a row's requests are not those of the row.
func (m *Mapping) deep() bool {
	return len(m.explode) > 0 || len(m.attributes) > 0 || m.shape != nil
}

// study reads the first rows of a file as the mapping says: what fields have a
// value, what counts include, and the names of columns behind lists and shapes.
func (l *Log) study(s *source.Source, c container, t *taken) error {
	if t.Files > maxStudied {
		return nil
	}
	from, err := c.open(s, bytes.NewReader(s.Peeked()))
	if err != nil {
		return err
	}
	if r, ok := from.(rows.Closer); ok {
		defer r.Close()
	}
	if from, err = shape.Of(from, t.mapping.shape.NewShaper(), true); err != nil {
		return err
	}
	b := newBuilder(t.mapping, l.in.Zone)
	b.votes, b.learning = t.votes, t.votes
	if planned, ok := from.(rows.Binder); ok {
		planned.Bind(b.read.first())
	}
	names := &namer{read: b.read, add: func(name string) { t.columns.names[name]++ }}
	if t.mapping.deep() {
		b.read.visit = names.element
	}
	for range sampleRows {
		pos, err := from.Next()
		var row *rows.Error
		if errors.As(err, &row) {
			continue
		}
		if err != nil || from.Fill(b.read.first()) != nil {
			break
		}
		if t.mapping.deep() {
			names.row(from)
		}
		b.each(pos, func(r *Record, bad *rows.Error) bool {
			if bad == nil && r.Rule == "" {
				b.cover(r)
				t.columns.rows++
			}
			return true
		})
	}
	for f, n := range b.covered {
		t.has[f] += n
	}
	return nil
}

// namer lists the columns of rows that are exploded or hold attributes, in the
// way that a mapping writes their paths.
type namer struct {
	read *reading
	add  func(string)
}

// row names the columns of the row itself, without the lists of its requests.
func (n *namer) row(from rows.Reader) {
	m, last := n.read.mapping, len(n.read.levels)-1
	prefix := strings.Repeat("^.", last)
	var hidden []string
	if last > 0 {
		hidden = append(hidden, m.explode[0])
	}
	for _, path := range m.attributes {
		if level, rest := n.read.level(path); level == 0 {
			hidden = append(hidden, rest)
			p := n.read.first()
			c := p.Cell(p.Slot(rest))
			if rest == "." {
				p.Names(strings.TrimSuffix(prefix, "."), rest, c.Value, n.add)
				return
			}
			if c.Value != nil {
				p.Names(prefix+rest, rest, c.Value, n.add)
			}
		}
	}
	from.Names(func(name string) {
		for _, h := range hidden {
			if name == h || strings.HasPrefix(name, h+".") {
				return
			}
		}
		n.add(prefix + name)
	})
}

// element names the columns of an element of a list.
func (n *namer) element(level int, v *fastjson.Value) {
	last := len(n.read.levels) - 1
	prefix := strings.TrimSuffix(strings.Repeat("^.", last-level), ".")
	n.read.levels[level].Names(prefix, ".", v, n.add)
}
