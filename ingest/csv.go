package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// table reads CSV with a header row: RFC 4180, with comma, semicolon or tab as
// the separator and any of the usual line ends. A quoted field may span lines.
// When a quote is never closed, the row it opened in is bad and reading goes on
// at the line after it, so that one stray quote does not swallow the file.
type table struct {
	file    string
	lines   *lines
	sep     byte
	columns []string
	pending []pendingLine // lines read ahead and given back
	raw     []byte        // the current row
	fields  [][]byte      // its fields, into raw
	items   int64
	nodes   []*node // of each column in plan
	plan    *plan
}

// pendingLine is a line with its position.
type pendingLine struct {
	text        []byte
	line, start int64
	tooLong     bool
}

func openCSV(s *source, r io.Reader) (rows, error) {
	t := &table{file: s.name, lines: newLines(r, maxRow), sep: ','}
	first := true
	for {
		ln, err := t.line()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: has no header row", s.name)
		}
		if err != nil {
			return nil, err
		}
		if first {
			ln.text = cutBOM(ln.text)
			first = false
		}
		if len(bytes.TrimSpace(ln.text)) == 0 {
			continue
		}
		t.sep = separator(ln.text)
		if e := t.gather(ln); e != nil {
			return nil, fmt.Errorf("%s: the header row cannot be read as CSV", s.name)
		}
		break
	}
	for _, f := range t.fields {
		t.columns = append(t.columns, strings.TrimSpace(string(f)))
	}
	return t, nil
}

// separator is the most frequent of the three outside quotes.
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
	for _, c := range []byte{';', '\t'} {
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
		if len(t.fields) != len(t.columns) {
			return pos, bad(FieldCount, fmt.Sprintf("%d fields under a header of %d", len(t.fields), len(t.columns)))
		}
		return pos, nil
	}
}

// gather makes the row that begins with ln, taking in more lines while a quote
// is open.
func (t *table) gather(ln pendingLine) *RowError {
	t.raw = append(t.raw[:0], ln.text...)
	open := bytes.Count(ln.text, []byte{'"'})%2 == 1
	var taken []pendingLine
	for open {
		more, err := t.line()
		if err != nil || more.tooLong || len(t.raw)+len(more.text) > maxRow {
			if err == nil {
				taken = append(taken, keep(more))
			}
			t.pending = append(taken, t.pending...)
			return bad(BadCSV, "a quote is not closed")
		}
		taken = append(taken, keep(more))
		t.raw = append(append(t.raw, '\n'), more.text...)
		open = open != (bytes.Count(more.text, []byte{'"'})%2 == 1)
	}
	if !t.split() {
		t.pending = append(taken, t.pending...)
		return bad(BadCSV, "a quote stands inside a field")
	}
	return nil
}

func keep(ln pendingLine) pendingLine {
	ln.text = bytes.Clone(ln.text)
	return ln
}

// split cuts raw into fields, undoubling quotes in place.
func (t *table) split() bool {
	t.fields = t.fields[:0]
	raw := t.raw
	for {
		var field []byte
		if len(raw) > 0 && raw[0] == '"' {
			end, rest, ok := unquote(raw)
			if !ok || (len(rest) > 0 && rest[0] != t.sep) {
				return false
			}
			field, raw = raw[1:1+end], rest
		} else {
			end := bytes.IndexByte(raw, t.sep)
			if end < 0 {
				end = len(raw)
			}
			field, raw = raw[:end], raw[end:]
			if bytes.IndexByte(field, '"') >= 0 {
				return false
			}
		}
		t.fields = append(t.fields, field)
		if len(raw) == 0 {
			return true
		}
		raw = raw[1:]
	}
}

// unquote moves the content of the quoted field that begins raw to raw[1:] and
// returns its length and what follows the closing quote.
func unquote(raw []byte) (n int, rest []byte, ok bool) {
	w := 1
	for i := 1; i < len(raw); i++ {
		if raw[i] == '"' {
			if i+1 == len(raw) || raw[i+1] != '"' {
				return w - 1, raw[i+1:], true
			}
			i++
		}
		raw[w] = raw[i]
		w++
	}
	return 0, nil, false
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
	for i, n := range t.nodes {
		if n == nil || missing(t.fields[i]) {
			continue
		}
		if n.row == p.row {
			return bad(DuplicateKey, "a mapped column is there twice")
		}
		n.row = p.row
		text := string(t.fields[i])
		if n.slot >= 0 {
			p.cells[n.slot] = cell{text: text}
		}
		if len(n.next) > 0 {
			p.walkText(n, text)
		}
	}
	return nil
}

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
	return len(field) <= 4 && slices.Contains([]string{"", "null", "NULL", "None", `\N`}, string(field))
}
