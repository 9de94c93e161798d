package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// sniffJSON takes an array, and objects that span lines.
func sniffJSON(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	if text[0] == '{' {
		return true
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return text[0] == '[' && (len(rest) == 0 || rest[0] == '{' || rest[0] == ']')
}

// values splits a text into JSON objects without loading it: the elements of
// one array, or objects one after the other, indented or not. Brackets are
// counted outside strings, so a bad element costs itself alone.
type values struct {
	jsonRow
	file  string
	r     *bufio.Reader
	limit int
	array bool // inside the outer array
	done  bool
	buf   []byte
	off   int64
	line  int64
	items int64
}

func openJSON(s *source, r io.Reader) (rows, error) {
	return &values{file: s.name, r: bufio.NewReaderSize(r, 256<<10), limit: maxRow, line: 1}, nil
}

func (v *values) next() (Pos, error) {
	c, err := v.skip()
	if err == nil && c == '[' && v.items == 0 && !v.array {
		v.array = true
		c, err = v.skip()
	}
	if errors.Is(err, io.EOF) && v.array && !v.done {
		return Pos{}, fmt.Errorf("%s:%d: the file ends before its array is closed; it is cut short", v.file, v.line)
	}
	if err != nil {
		return Pos{}, err
	}
	if c == ']' && v.array {
		v.array, v.done = false, true
		return v.next()
	}
	v.items++
	pos := v.pos()
	tooLong, err := v.element(c)
	switch {
	case errors.Is(err, io.EOF):
		return Pos{}, fmt.Errorf("%s:%d: the row that begins here is not closed before the end of the file; mend it or cut the file here", v.file, pos.Line)
	case err != nil:
		return Pos{}, err
	case tooLong:
		return pos, bad(LineTooLong, "")
	}
	if e := v.set(v.buf); e != nil {
		return pos, e
	}
	return pos, nil
}

func (v *values) pos() Pos {
	return Pos{File: v.file, Line: v.line, Item: v.items, Byte: max(v.off-1, 0)}
}

func (v *values) readByte() (byte, error) {
	c, err := v.r.ReadByte()
	if err != nil {
		return 0, err
	}
	v.off++
	if c == '\n' {
		v.line++
	}
	return c, nil
}

// skip returns the next byte that is no blank, comma or byte order mark.
func (v *values) skip() (byte, error) {
	for {
		c, err := v.readByte()
		if err != nil {
			return 0, err
		}
		bom := v.off <= 3 && c >= 0x80
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != ',' && !bom {
			return c, nil
		}
	}
}

// element reads one value that begins with c into buf: to its closing bracket,
// or to the end of the line or a comma when it has none.
func (v *values) element(c byte) (tooLong bool, err error) {
	v.buf = v.buf[:0]
	var depth int
	var quoted, escaped bool
	for {
		if len(v.buf) < v.limit {
			v.buf = append(v.buf, c)
		} else {
			tooLong = true
		}
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if !quoted && depth <= 0 {
			if c == '}' || c == ']' || c == '"' {
				return tooLong, nil
			}
			if ahead, err := v.r.Peek(1); err != nil || ahead[0] == ',' || ahead[0] == '\n' || ahead[0] == ']' {
				return tooLong, nil
			}
		}
		if c, err = v.readByte(); err != nil {
			return tooLong, err
		}
	}
}
