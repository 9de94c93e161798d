package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/ingest/rows"
	"reprise/ingest/scalar"
	"reprise/ingest/source"
)

// table reads CSV: RFC 4180, with comma, semicolon, tab or bar as the separator
// and any of the usual line ends. A quoted field may span lines, and a quote in
// an unquoted field is a quote. When a quote is never closed, the row it opened
// in is bad and reading goes on at the line after it, so that one stray quote
// does not swallow the file. A table without a header has columns #1, #2, ...
type table struct {
	tableRow
	file    string
	lines   *Lines
	pending []pendingLine // lines read ahead and given back
	split   splitter      // of rows with quotes
	ahead   int           // bytes that an open quote may take in
	items   int64
	one     Chunk // holds the current row, when they are read one by one
}

// pendingLine is a line with its position.
type pendingLine struct {
	text        []byte
	line, start int64
	tooLong     bool
}

// OpenCSV reads the header and then row by row.
func OpenCSV(s *source.Source, r io.Reader) (rows.Reader, error) {
	t := &table{file: s.Name, lines: LinesOf(s, r), ahead: rows.MaxBytes}
	if oldMac(t.lines.r) {
		t.lines = LinesOf(s, carriages{t.lines.r})
	}
	for {
		ln, err := t.line()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: has no header row", s.Name)
		}
		if err != nil {
			return nil, err
		}
		if ln.line == 1 {
			ln.text = CutBOM(ln.text)
		}
		if len(bytes.TrimSpace(ln.text)) == 0 {
			continue
		}
		if sep, ok := excelSeparator(ln.text); ok && t.sep == 0 {
			t.sep = sep
			continue
		}
		if t.sep == 0 {
			t.sep = separator(ln.text)
		}
		return t, t.header(s.Name, ln)
	}
}

// excelSeparator reads the line sep=; that tells Excel the separator.
func excelSeparator(line []byte) (byte, bool) {
	line = bytes.Trim(line, "\" ")
	if len(line) == 5 && strings.EqualFold(string(line[:4]), "sep=") && bytes.IndexByte([]byte(",;\t|"), line[4]) >= 0 {
		return line[4], true
	}
	return 0, false
}

// oldMac says that the lines of a text end with a carriage return alone, as
// Excel saves them under the name CSV (Macintosh).
func oldMac(r *bufio.Reader) bool {
	head, _ := r.Peek(64 << 10)
	return bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0
}

// carriages makes line feeds of carriage returns.
type carriages struct{ r io.Reader }

func (c carriages) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i := range p[:n] {
		if p[i] == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
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
		data = data || isValue(text)
	}
	return data && !counted
}

// isValue says that a cell is a number or a time.
func isValue(text string) bool {
	if len(text) == 0 || text[0] >= 'A' && text[0] != '[' && text[0] != '{' {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	_, isTime := scalar.ParseTime(text, "")
	return err == nil || isTime
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
	b, tooLong, err := t.lines.Next()
	return pendingLine{text: b, line: t.lines.Line, start: t.lines.Start, tooLong: tooLong}, err
}

func (t *table) Next() (rows.Pos, error) {
	t.one.reset()
	if err := t.Text(&t.one); err != nil {
		return rows.Pos{}, err
	}
	t.one.Freeze()
	row := &t.one.Rows[0]
	e := row.Bad
	if e == nil {
		e = t.Parse(&t.one, 0)
	}
	if e != nil {
		return row.Pos, e
	}
	return row.Pos, nil
}

// Text adds the next row to a chunk. Rows with quotes are cut here, as only the
// quotes tell where they end.
func (t *table) Text(c *Chunk) error {
	ln, err := t.line()
	for err == nil && len(ln.text) == 0 && !ln.tooLong {
		ln, err = t.line()
	}
	if err != nil {
		return err
	}
	t.items++
	row := Row{Pos: rows.Pos{File: t.file, Line: ln.line, Item: t.items, Byte: ln.start}}
	row.at.from, row.cuts.from = len(c.buf), len(c.cuts)
	switch {
	case ln.tooLong:
		row.Bad = rows.TooLong()
	case bytes.IndexByte(ln.text, '"') < 0:
		c.buf = append(c.buf, ln.text...)
	default:
		row.Bad = t.quoted(c, ln)
	}
	row.at.to, row.cuts.to = len(c.buf), len(c.cuts)
	c.Rows = append(c.Rows, row)
	return nil
}

// quoted adds a row with quotes, which begins with ln.
func (t *table) quoted(c *Chunk, ln pendingLine) *rows.Error {
	if e := t.gather(ln); e != nil {
		return e
	}
	if n := len(t.split.fields); n != len(t.columns) {
		if t.split.stray {
			return rows.Bad(rows.BadCSV, "a quote stands inside a field")
		}
		return t.count(n)
	}
	from := len(c.buf)
	c.buf = append(c.buf, t.split.raw...)
	for _, f := range t.split.spans {
		c.cuts = append(c.cuts, span{from + f.from, from + f.to})
	}
	return nil
}

func (t *table) Parser() Parser { return &tableRow{columns: t.columns, sep: t.sep} }

// minAhead is how far an open quote is followed in a file with many stray ones.
const minAhead = 64 << 10

// gather makes the row that begins with ln, taking in more lines while a quote
// is open. Each quote that is never closed halves how far the next is followed,
// so that a file of stray quotes is not read over and over.
func (t *table) gather(ln pendingLine) *rows.Error {
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
			return rows.Bad(rows.BadCSV, "a quote is not closed")
		}
		if t.split.line(more.text) {
			t.ahead = rows.MaxBytes
			return nil
		}
	}
}

func keep(ln pendingLine) pendingLine {
	ln.text = bytes.Clone(ln.text)
	return ln
}
