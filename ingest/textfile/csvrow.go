package textfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"reprise/ingest/rows"
)

// tableRow is the current row of a table, in its chunk.
type tableRow struct {
	columns []string
	sep     byte
	chunk   *Chunk
	at      span
	fields  []span       // in the chunk's buf
	plain   bool         // there are no quotes in it
	cut     []span       // room for the fields of plain rows
	nodes   []*rows.Node // of each column in plan
	plan    *rows.Plan
	cells   cellText
}

// Parse goes to a row, and cuts it where that is not done yet.
func (t *tableRow) Parse(c *Chunk, row int) *rows.Error {
	r := &c.Rows[row]
	t.chunk, t.at = c, r.at
	if t.plain = r.cuts.from == r.cuts.to; !t.plain {
		t.fields = c.cuts[r.cuts.from:r.cuts.to]
		return nil
	}
	t.cut = t.cut[:0]
	at := r.at
	for {
		i := bytes.IndexByte(c.buf[at.from:at.to], t.sep)
		if i < 0 {
			break
		}
		t.cut = append(t.cut, span{at.from, at.from + i})
		at.from += i + 1
	}
	t.cut = append(t.cut, at)
	t.fields = t.cut
	if n := len(t.fields); n != len(t.columns) {
		return t.count(n)
	}
	return nil
}

// count is what is wrong with a row of n fields.
func (t *tableRow) count(n int) *rows.Error {
	return rows.Bad(rows.FieldCount, fmt.Sprintf("%d fields under a header of %d", n, len(t.columns)))
}

func (t *tableRow) Names(add func(string)) {
	for _, c := range t.columns {
		add(c)
	}
}

// Bind finds the columns of a plan in the header.
func (t *tableRow) Bind(p *rows.Plan) {
	t.plan = p
	t.nodes = t.nodes[:0]
	for _, c := range t.columns {
		t.nodes = append(t.nodes, p.Find(c))
	}
}

func (t *tableRow) Fill(p *rows.Plan) *rows.Error {
	if t.plan != p {
		t.Bind(p)
	}
	p.Start()
	for i, n := range t.nodes {
		if n == nil {
			continue
		}
		at := t.fields[i]
		field := t.chunk.buf[at.from:at.to]
		if missing(field) {
			continue
		}
		var text string
		if t.chunk.text != "" && (t.plain || field[0] != '"') {
			text = t.chunk.text[at.from:at.to]
		} else {
			text = t.cells.of(field)
		}
		if e := p.Put(n, text); e != nil {
			return e
		}
	}
	return nil
}

// ValidText looks at the whole of a plain row; cut fields stand side by side, and
// bytes of two of them may look like a character.
func (t *tableRow) ValidText() bool {
	if t.plain {
		return utf8.Valid(t.chunk.buf[t.at.from:t.at.to])
	}
	for _, f := range t.fields {
		if !utf8.Valid(t.chunk.buf[f.from:f.to]) {
			return false
		}
	}
	return true
}

// missing says that a cell stands for no value, as databases and pandas write
// it. NaN is not among them: it comes from a sum that failed.
func missing(field []byte) bool {
	if len(field) > 6 {
		return false
	}
	switch string(field) {
	case "", "null", "NULL", "None", `\N`, `""`, `"null"`:
		return true
	}
	return false
}

// cellText makes text of cells. One that is a JSON string, quotes and all, is
// what the string says, as Langfuse writes values that are no text.
type cellText struct{ parser fastjson.Parser }

func (c *cellText) of(field []byte) string {
	if n := len(field); n < 2 || field[0] != '"' || field[n-1] != '"' {
		return string(field)
	}
	if v, err := c.parser.ParseBytes(field); err == nil && v.Type() == fastjson.TypeString {
		return string(v.GetStringBytes())
	}
	return string(field)
}

// Counts says that a field of the current row is a number or a time.
func (t *tableRow) Counts() bool {
	for _, f := range t.fields {
		if isValue(strings.TrimSpace(string(t.chunk.buf[f.from:f.to]))) {
			return true
		}
	}
	return false
}
