package textfile

import (
	"bytes"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// IsJSONL takes a text whose first line is an object by itself, and one
// whose first two lines both begin like one. Several objects on the first line
// are for the JSON container, as such a line may be the whole file.
func IsJSONL(text []byte) bool {
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	first, rest, more := bytes.Cut(text, []byte("\n"))
	if p := pageOf(first); p.key != "" && !p.nested && slices.Contains(pageKeys(), p.key) {
		return false
	}
	if end := firstValue(first); end > 0 && len(bytes.TrimLeft(first[end:], " \t\r\x1e")) > 0 {
		return false
	}
	if !more || fastjson.ValidateBytes(bytes.TrimSpace(first)) == nil {
		return true
	}
	rest = bytes.TrimLeft(rest, "\r\n")
	return bytes.HasPrefix(rest, []byte("{"))
}

// jsonRow is the part that the JSON containers share: the current object.
type jsonRow struct {
	parser fastjson.Parser
	value  *fastjson.Value
	valid  bool // UTF-8 in all of its bytes
}

// set parses a row. The parser's own message quotes the text and is dropped.
func (j *jsonRow) set(b []byte) *rows.Error {
	v, err := j.parser.ParseBytes(b)
	j.valid = utf8.Valid(b)
	switch {
	case err != nil:
		j.value = nil
		return rows.Bad(rows.BadJSON, "")
	case v.Type() != fastjson.TypeObject:
		j.value = nil
		return rows.Bad(rows.NotAnObject, "")
	}
	j.value = v
	return nil
}

func (j *jsonRow) Fill(p *rows.Plan) *rows.Error {
	return p.Take(j.value)
}

func (j *jsonRow) Names(add func(string)) {
	if j.value != nil {
		notation.Names(j.value, add)
	}
}

// jsonl reads one object a line.
type jsonl struct {
	jsonRow
	file  string
	lines *Lines
	items int64
	rest  []byte // of a line with several objects
}

// OpenJSONL reads one object a line.
func OpenJSONL(s *source.Source, r io.Reader) (rows.Reader, error) {
	return &jsonl{file: s.Name, lines: LinesOf(s, r)}, nil
}

func (j *jsonl) Next() (rows.Pos, error) {
	line, pos, tooLong, err := j.line()
	if err != nil {
		return rows.Pos{}, err
	}
	if tooLong {
		return pos, rows.TooLong()
	}
	if e := j.set(line); e != nil {
		return pos, e
	}
	return pos, nil
}

// line returns the next object: a line that is not blank, or a part of one that
// holds several.
func (j *jsonl) line() (line []byte, pos rows.Pos, tooLong bool, err error) {
	if len(j.rest) > 0 {
		line, j.rest = cutObject(j.rest)
		j.items++
		return line, j.pos(), false, nil
	}
	for {
		line, tooLong, err := j.lines.Next()
		if err != nil {
			return nil, rows.Pos{}, false, err
		}
		if j.lines.Line == 1 {
			line = CutBOM(line)
		}
		if line = bytes.Trim(line, " \t\r\n\x1e"); len(line) == 0 && !tooLong {
			continue
		}
		line, j.rest = cutObject(line)
		j.items++
		return line, j.pos(), tooLong, nil
	}
}

func (j *jsonl) pos() rows.Pos {
	return rows.Pos{File: j.file, Line: j.lines.Line, Item: j.items, Byte: j.lines.Start}
}

// cutObject splits a line in which an object is followed by another, as two
// writers of one file leave it, into the first one and the rest. Such marks are
// looked for first, as that is fast; they may stand in a text too.
func cutObject(line []byte) (first, rest []byte) {
	if bytes.Contains(line, []byte("}{")) || bytes.Contains(line, []byte("} {")) {
		if end := firstValue(line); end > 0 {
			rest = bytes.TrimLeft(line[end:], " \t\r\x1e")
			if len(rest) > 0 && rest[0] == '{' {
				return line[:end], rest
			}
		}
	}
	return line, nil
}

// firstValue is where the first object of a text ends; 0 when it does not.
func firstValue(text []byte) int {
	var s splitState
	if len(text) == 0 || text[0] != '{' {
		return 0
	}
	if n, done := s.scan(text); done {
		return n
	}
	return 0
}

func (j *jsonl) Text(c *Chunk) error {
	line, pos, tooLong, err := j.line()
	if err != nil {
		return err
	}
	row := Row{Pos: pos, at: span{len(c.buf), len(c.buf) + len(line)}}
	if tooLong {
		row.Bad = rows.TooLong()
	}
	c.buf = append(c.buf, line...)
	c.Rows = append(c.Rows, row)
	return nil
}

func (j *jsonl) Parser() Parser { return &jsonRow{} }

func (j *jsonRow) Parse(c *Chunk, row int) *rows.Error {
	at := c.Rows[row].at
	return j.set(c.buf[at.from:at.to])
}

func (j *jsonRow) Current() *fastjson.Value { return j.value }

func (j *jsonRow) ValidText() bool { return j.valid }
