package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// IsJSON takes an array, and objects that span lines.
func IsJSON(text []byte) bool {
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
// arrays, the rows of pages, or objects one after the other, indented or not.
// Brackets are counted outside strings, so a bad element costs itself alone.
type values struct {
	jsonRow
	file   string
	r      *bufio.Reader
	limit  int
	page   page
	within within
	parent []byte // members of the page before its list, each with a comma
	outer  fastjson.Parser
	above  *fastjson.Value // the same, parsed
	buf    []byte
	wrap   []byte
	state  splitState
	off    int64
	line   int64
	items  int64
	broken error
}

// within is where the next value stands.
type within uint8

const (
	atTop within = iota
	inArray
	inPage // of a page's object, beside its list
	inList // of a page
	atEnd
)

// wholePage is up to what size a page with nested requests is one row.
const wholePage = 16 << 20

// OpenJSON reads arrays, pages and objects one after the other.
func OpenJSON(s *source.Source, r io.Reader) (rows.Reader, error) {
	v := &values{file: s.Name, limit: rows.MaxBytes, line: 1, off: s.Hole}
	v.r = bufio.NewReaderSize(r, 256<<10)
	head, _ := v.r.Peek(128 << 10)
	v.page = pageOf(head)
	if v.page.nested {
		var start bytes.Buffer
		_, err := io.CopyN(&start, v.r, wholePage)
		rest := io.Reader(v.r)
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF): // it ends here: one row
			v.page = page{}
		case err != nil:
			rest = source.Failing(err)
		}
		v.r = bufio.NewReaderSize(io.MultiReader(&start, rest), 256<<10)
	}
	return v, nil
}

func (v *values) Next() (rows.Pos, error) {
	for {
		c, err := v.skip()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && v.within != atTop && v.within != atEnd {
			v.items++
			return v.cut("the file ends before its list is closed", v.pos())
		}
		if err != nil {
			return rows.Pos{}, err
		}
		switch {
		case v.within == atTop && c == '[':
			v.enter(inArray)
		case v.within == inArray && c == ']':
			v.enter(atTop)
		case v.within == inList && c == ']':
			v.enter(inPage)
		case v.within == atTop && c == '{' && v.page.key != "":
			v.enter(inPage)
			v.parent, v.above = v.parent[:0], nil
		case v.within == inPage:
			if row, pos, err := v.member(c); row || err != nil {
				return pos, err
			}
		default:
			return v.row()
		}
	}
}

// enter takes a bracket off and goes to where it leads.
func (v *values) enter(w within) {
	v.r.Discard(1)
	v.off++
	v.within = w
}

// cut ends the file with a row that is not whole.
func (v *values) cut(why string, pos rows.Pos) (rows.Pos, error) {
	v.within = atEnd
	v.broken = source.Damaged("%s: %s, after line %d; it is cut short", v.file, why, v.line)
	return pos, rows.Bad(rows.CutShort, why)
}

// Damage is what was wrong with a file that was read as far as it goes.
func (v *values) Damage() error { return v.broken }

func (v *values) pos() rows.Pos {
	return rows.Pos{File: v.file, Line: v.line, Item: v.items, Byte: v.off}
}

// row reads the value that comes next as a row.
func (v *values) row() (rows.Pos, error) {
	v.items++
	pos := v.pos()
	tooLong, err := v.element()
	switch {
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return v.cut("the row is not closed before the end of the file", pos)
	case err != nil:
		return pos, err
	case tooLong:
		return pos, rows.TooLong()
	}
	if e := v.put(); e != nil {
		return pos, e
	}
	return pos, nil
}

// put parses the row. Beside it stands what its page says of all its rows: in
// the place where the page has it when requests are nested in the page's
// entries, or else under the key ^.
func (v *values) put() *rows.Error {
	if v.within != inList {
		return v.set(v.buf)
	}
	if v.page.nested {
		v.wrap = append(append(v.wrap[:0], '{'), v.parent...)
		v.wrap = append(notation.AppendString(v.wrap, v.page.key), ":["...)
		v.wrap = append(append(v.wrap, v.buf...), "]}"...)
		return v.set(v.wrap)
	}
	e := v.set(v.buf)
	if e == nil && v.above != nil {
		v.value.Set("^", v.above)
	}
	return e
}

// skip returns the next byte that is no blank, comma, record separator or byte
// order mark, and leaves it to be read.
func (v *values) skip() (byte, error) {
	for {
		b, err := v.r.Peek(1)
		if err != nil {
			return 0, err
		}
		c := b[0]
		bom := v.items == 0 && v.line == 1 && v.within == atTop && c >= 0x80
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != ',' && c != 0x1e && c != 0 && !bom {
			return c, nil
		}
		if c == '\n' {
			v.line++
		}
		v.r.Discard(1)
		v.off++
	}
}

// element reads one value into buf.
func (v *values) element() (tooLong bool, err error) {
	v.buf = v.buf[:0]
	v.state = splitState{}
	for {
		if v.r.Buffered() == 0 {
			if _, err := v.r.Peek(1); err != nil {
				if errors.Is(err, io.EOF) && v.state.scalar {
					return tooLong, nil
				}
				return tooLong, err
			}
		}
		chunk, _ := v.r.Peek(v.r.Buffered())
		n, done := v.state.scan(chunk)
		if len(v.buf)+n <= v.limit {
			v.buf = append(v.buf, chunk[:n]...)
		} else {
			tooLong = true
		}
		v.line += int64(bytes.Count(chunk[:n], []byte{'\n'}))
		v.off += int64(n)
		v.r.Discard(n)
		if done {
			return tooLong, nil
		}
	}
}

// splitState follows one value through its text.
type splitState struct {
	depth   int
	quoted  bool
	escaped bool
	scalar  bool // no bracket or quote opened it
	begun   bool
}

// scan returns how many bytes of the chunk belong to the value, and whether it
// ends there. A scalar ends before a comma, a closing bracket or the end of the
// line.
func (s *splitState) scan(chunk []byte) (int, bool) {
	quote := -1 // the next one, as far as it is known
	for i := 0; i < len(chunk); i++ {
		c := chunk[i]
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted && c != '"' && c != '\\':
			if quote < i {
				if quote = bytes.IndexByte(chunk[i:], '"'); quote < 0 {
					quote = len(chunk)
				} else {
					quote += i
				}
			}
			if j := bytes.IndexByte(chunk[i:quote], '\\'); j >= 0 {
				i += j - 1
			} else {
				i = quote - 1
			}
		case s.quoted && c == '\\':
			s.escaped = true
		case c == '"':
			s.quoted = !s.quoted
			if !s.quoted && s.depth == 0 && !s.scalar {
				return i + 1, true
			}
			s.begun = true
		case s.scalar && (c == ',' || c == ']' || c == '}' || c == '\n'):
			return i, i > 0 || s.begun
		case c == '{' || c == '[':
			s.depth++
			s.begun = true
		case c == '}' || c == ']':
			s.depth--
			if s.depth <= 0 {
				return i + 1, true
			}
		case !s.begun:
			s.scalar, s.begun = true, true
		}
	}
	return len(chunk), false
}
