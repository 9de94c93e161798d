package loglines

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
	"reprise/ingest/scalar"
	"reprise/ingest/source"
	"reprise/ingest/textfile"
)

// Reader are the lines of a text log that a set knows, as JSON: the columns
// under the name of the kind. Other lines (banners, statistics) are no rows and
// are counted.
type Reader struct {
	file   string
	lines  *textfile.Lines
	set    *Set
	parser fastjson.Parser
	inner  fastjson.Parser
	value  *fastjson.Value
	buf    []byte
	items  int64
	other  int64 // lines that are no rows
	clock  yearless
}

// Open reads the lines of r that a set knows; r is the text of s or the
// start of it.
func Open(s *source.Source, r io.Reader, set *Set) *Reader {
	return &Reader{file: s.Name, lines: textfile.LinesOf(s, r), set: set}
}

// Next goes to the next line that the set knows.
func (t *Reader) Next() (rows.Pos, error) {
	for {
		line, tooLong, err := t.lines.Next()
		if err != nil {
			return rows.Pos{}, err
		}
		if tooLong {
			t.items++
			return t.pos(), rows.TooLong()
		}
		text, at := t.unwrap(bytes.TrimSpace(line))
		e, groups := t.set.match(text)
		if e == nil {
			t.other++
			continue
		}
		t.items++
		pos := t.pos()
		if !t.row(e, text, groups, at) {
			return pos, rows.Bad(rows.BadLine, "a "+e.Name+" line is not as it should be")
		}
		return pos, nil
	}
}

// Others is how many lines were no rows.
func (t *Reader) Others() int64 { return t.other }

func (t *Reader) pos() rows.Pos {
	return rows.Pos{File: t.file, Line: t.lines.Line, Item: t.items, Byte: t.lines.Start}
}

// row makes the JSON of a line.
func (t *Reader) row(e *kind, text []byte, groups []int, at string) bool {
	t.buf = append(notation.AppendString(append(t.buf[:0], '{'), e.Name), `:{"line":true`...)
	if at != "" {
		t.column("wrapped_at")
		t.buf = notation.AppendString(t.buf, at)
	}
	for i, name := range e.groups {
		if name == "" || groups[2*i] < 0 {
			continue
		}
		if !t.cell(e, name, notation.String(text[groups[2*i]:groups[2*i+1]])) {
			return false
		}
	}
	if e.Rest != "" && !t.cell(e, e.Rest, notation.String(text[groups[1]:])) {
		return false
	}
	t.buf = append(t.buf, "}}"...)
	v, err := t.parser.ParseBytes(t.buf)
	t.value = v
	return err == nil
}

func (t *Reader) column(name string) {
	t.buf = append(notation.AppendString(append(t.buf, ','), name), ':')
}

// cell writes one column in the way that its kind of line asks for.
func (t *Reader) cell(e *kind, name, text string) (ok bool) {
	t.column(name)
	switch layout := e.Times[name]; {
	case layout != "":
		var s string
		if s, ok = t.clock.format(layout, text); ok {
			t.buf = notation.AppendString(t.buf, s)
		}
		return ok
	case slices.Contains(e.Fields, name):
		t.buf, ok = notation.PythonFields(t.buf, text)
	case slices.Contains(e.Python, name):
		t.buf, ok = notation.Python(t.buf, text)
	case slices.Contains(e.Spans, name):
		var d time.Duration
		if d, ok = scalar.ParseGoSpan(text); ok {
			t.buf = strconv.AppendFloat(t.buf, d.Seconds(), 'f', -1, 64)
		}
	default:
		t.buf, ok = notation.AppendString(t.buf, text), true
	}
	return ok
}

// Names are the columns of the line, below the name of its kind.
func (t *Reader) Names(add func(string)) { notation.Names(t.value, add) }

// Current is the line as JSON.
func (t *Reader) Current() *fastjson.Value { return t.value }

// Fill takes the columns that a plan wants.
func (t *Reader) Fill(p *rows.Plan) *rows.Error {
	return p.Take(t.value)
}
