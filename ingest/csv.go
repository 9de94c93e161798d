package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
)

// table reads CSV: RFC 4180, with comma, semicolon, tab or bar as the separator
// and any of the usual line ends. A quoted field may span lines, and a quote in
// an unquoted field is a quote. When a quote is never closed, the row it opened
// in is bad and reading goes on at the line after it, so that one stray quote
// does not swallow the file. A table without a header has columns #1, #2, ...
type table struct {
	file    string
	lines   *lines
	sep     byte
	columns []string
	pending []pendingLine // lines read ahead and given back
	split   splitter      // of the current row
	ahead   int           // bytes that an open quote may take in
	items   int64
	nodes   []*node // of each column in plan
	plan    *plan
	text    cellText
}

// pendingLine is a line with its position.
type pendingLine struct {
	text        []byte
	line, start int64
	tooLong     bool
}

func openCSV(s *source, r io.Reader) (rows, error) {
	t := &table{file: s.name, lines: newLines(r, maxRow), ahead: maxRow}
	for {
		ln, err := t.line()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: has no header row", s.name)
		}
		if err != nil {
			return nil, err
		}
		if ln.start == 0 {
			ln.text = cutBOM(ln.text)
		}
		if len(bytes.TrimSpace(ln.text)) == 0 {
			continue
		}
		t.sep = separator(ln.text)
		return t, t.header(s.name, ln)
	}
}

// header names the columns: by the first row, or by number when that row is data
// already, and is then given back.
func (t *table) header(file string, ln pendingLine) error {
	first := keep(ln)
	if e := t.gather(ln); e != nil {
		return fmt.Errorf("%s: the header row cannot be read as CSV", file)
	}
	if isData(t.split.fields) {
		for i := range t.split.fields {
			t.columns = append(t.columns, "#"+strconv.Itoa(i+1))
		}
		t.pending = append([]pendingLine{first}, t.pending...)
		return nil
	}
	for _, f := range t.split.fields {
		t.columns = append(t.columns, strings.TrimSpace(string(f)))
	}
	return nil
}

// isData says that a first row is no header: a cell is a number or a time. The
// names 0, 1, 2, ... are a header that pandas writes.
func isData(fields [][]byte) bool {
	data, counted := false, true
	for i, f := range fields {
		text := strings.TrimSpace(string(f))
		counted = counted && (text == strconv.Itoa(i) || text == "" && i == 0)
		if len(text) == 0 || text[0] >= 'A' && text[0] != '[' && text[0] != '{' {
			continue
		}
		_, err := strconv.ParseFloat(text, 64)
		_, isTime := parseTime(text, "")
		data = data || err == nil || isTime
	}
	return data && !counted
}

// separator is the most frequent of the four outside quotes.
func separator(header []byte) byte {
	var n [256]int
	quoted := false
	for _, c := range header {
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			n[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte{';', '\t', '|'} {
		if n[c] > n[best] {
			best = c
		}
	}
	return best
}

// line returns the next line, one given back first. Its text stays valid.
func (t *table) line() (pendingLine, error) {
	if len(t.pending) > 0 {
		ln := t.pending[0]
		t.pending = t.pending[1:]
		return ln, nil
	}
	b, tooLong, err := t.lines.next()
	return pendingLine{text: b, line: t.lines.line, start: t.lines.start, tooLong: tooLong}, err
}

func (t *table) next() (Pos, error) {
	for {
		ln, err := t.line()
		if err != nil {
			return Pos{}, err
		}
		if len(ln.text) == 0 && !ln.tooLong {
			continue
		}
		t.items++
		pos := Pos{File: t.file, Line: ln.line, Item: t.items, Byte: ln.start}
		if ln.tooLong {
			return pos, bad(LineTooLong, "")
		}
		if e := t.gather(ln); e != nil {
			return pos, e
		}
		if n := len(t.split.fields); n != len(t.columns) {
			if t.split.stray {
				return pos, bad(BadCSV, "a quote stands inside a field")
			}
			return pos, bad(FieldCount, fmt.Sprintf("%d fields under a header of %d", n, len(t.columns)))
		}
		return pos, nil
	}
}

// minAhead is how far an open quote is followed in a file with many stray ones.
const minAhead = 64 << 10

// gather makes the row that begins with ln, taking in more lines while a quote
// is open. Each quote that is never closed halves how far the next is followed,
// so that a file of stray quotes is not read over and over.
func (t *table) gather(ln pendingLine) *RowError {
	t.split.start(t.sep)
	if t.split.line(ln.text) {
		return nil
	}
	var taken []pendingLine
	for size := len(ln.text); ; {
		var more pendingLine
		var err error
		if !t.split.stray {
			more, err = t.line()
			if err == nil {
				taken = append(taken, keep(more))
			}
			size += len(more.text)
		}
		if err != nil || t.split.stray || more.tooLong || size > t.ahead {
			t.pending = append(taken, t.pending...)
			t.ahead = max(t.ahead/2, minAhead)
			return bad(BadCSV, "a quote is not closed")
		}
		if t.split.line(more.text) {
			t.ahead = maxRow
			return nil
		}
	}
}

func keep(ln pendingLine) pendingLine {
	ln.text = bytes.Clone(ln.text)
	return ln
}

func (t *table) names(add func(string)) {
	for _, c := range t.columns {
		add(c)
	}
}

func (t *table) fill(p *plan) *RowError {
	if t.plan != p {
		t.bind(p)
	}
	p.start()
	var row string // of short rows the cells are parts of one string
	if n := len(t.split.whole); n > 0 && n <= shortRow {
		row = string(t.split.whole)
	}
	at := 0
	for i, n := range t.nodes {
		field := t.split.fields[i]
		from := at
		at += len(field) + 1
		if n == nil || missing(field) {
			continue
		}
		if n.row == p.row {
			return bad(DuplicateKey, "a mapped column is there twice")
		}
		n.row = p.row
		var text string
		if row != "" {
			text = row[from : from+len(field)]
		} else {
			text = t.text.of(field)
		}
		if n.slot >= 0 {
			p.cells[n.slot] = cell{text: text}
		}
		if len(n.next) > 0 {
			p.walkText(n, text)
		}
	}
	return nil
}

// shortRow is the size up to which a row is copied whole.
const shortRow = 1 << 10

// bind finds the columns of a plan in the header.
func (t *table) bind(p *plan) {
	t.plan = p
	t.nodes = t.nodes[:0]
	for _, c := range t.columns {
		t.nodes = append(t.nodes, p.root.find(c))
	}
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
