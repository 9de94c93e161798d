package ingest

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
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
func (l *Log) study(s *source, c container, t *taken) error {
	if t.Files > maxStudied {
		return nil
	}
	rows, err := c.open(s, bytes.NewReader(s.head))
	if err != nil {
		return err
	}
	if r, ok := rows.(closer); ok {
		defer r.close()
	}
	if rows, err = reshape(rows, t.mapping.shape.newShaper(), true); err != nil {
		return err
	}
	b := newBuilder(t.mapping, l.in.Zone)
	b.votes, b.learning = t.votes, t.votes
	if planned, ok := rows.(interface{ bind(*plan) }); ok {
		planned.bind(b.read.first())
	}
	names := &namer{read: b.read, add: func(name string) { t.columns.names[name]++ }}
	if t.mapping.deep() {
		b.read.visit = names.element
	}
	for range sampleRows {
		pos, err := rows.next()
		var row *RowError
		if errors.As(err, &row) {
			continue
		}
		if err != nil || rows.fill(b.read.first()) != nil {
			break
		}
		if t.mapping.deep() {
			names.row(rows)
		}
		b.each(pos, func(r *Record, bad *RowError) bool {
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
func (n *namer) row(rows rows) {
	m, last := n.read.mapping, len(n.read.levels)-1
	prefix := strings.Repeat("^.", last)
	var hidden []string
	if last > 0 {
		hidden = append(hidden, m.explode[0])
	}
	for _, path := range m.attributes {
		if level, rest := n.read.level(path); level == 0 {
			hidden = append(hidden, rest)
			at := n.read.levels[0].root.make(rest)
			if rest == "." {
				n.value(strings.TrimSuffix(prefix, "."), n.read.levels[0], at, n.read.levels[0].cells[at.slot].node, notation.MaxNameDepth)
				return
			}
			if c := n.read.levels[0].cells[at.slot]; c.node != nil {
				n.value(prefix+rest, n.read.levels[0], at, c.node, notation.MaxNameDepth)
			}
		}
	}
	rows.names(func(name string) {
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
	n.value(prefix, n.read.levels[level], &n.read.levels[level].root, v, notation.MaxNameDepth)
}

func (n *namer) value(prefix string, p *plan, at *node, v *fastjson.Value, depth int) {
	if at != nil && at.slot >= 0 && at.slot == p.explode {
		return // its elements are named by themselves
	}
	if prefix != "" && prefix != "^" {
		n.add(prefix)
	}
	if depth == 0 || v == nil {
		return
	}
	below := func(key string, v *fastjson.Value) {
		var next *node
		if at != nil {
			next = at.find(key)
		}
		if prefix != "" {
			key = prefix + "." + key
		}
		n.value(key, p, next, v, depth-1)
	}
	if at != nil && at.flat {
		notation.Pairs(v, func(key string, v *fastjson.Value) { below(zeroes(key), p.inner.Plain(v)) })
		return
	}
	switch v.Type() {
	case fastjson.TypeObject:
		o, _ := v.Object()
		o.Visit(func(key []byte, v *fastjson.Value) { below(string(key), v) })
	case fastjson.TypeArray:
		if list := v.GetArray(); len(list) > 0 {
			below("0", list[0])
		}
	case fastjson.TypeString:
		b := v.GetStringBytes()
		if len(b) > 1 && (b[0] == '{' || b[0] == '[') {
			if inner, err := fastjson.ParseBytes(b); err == nil {
				n.value(prefix, p, at, inner, depth-1)
			}
		}
	}
}

// zeroes puts 0 for every position in a dotted key, so that a list is named once.
func zeroes(key string) string {
	steps := strings.Split(key, ".")
	for i, s := range steps {
		if _, err := strconv.Atoi(s); err == nil {
			steps[i] = "0"
		}
	}
	return strings.Join(steps, ".")
}
