package ingest

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"reprise/ingest/columnar"
	"reprise/ingest/loglines"
	"reprise/ingest/rows"
	"reprise/ingest/source"
	"reprise/ingest/textfile"
)

// container is a file format that holds rows. A new one is a reader in textfile
// or columnar and a line in containers.
type container struct {
	name   string
	sniff  func(head []byte) bool // looks at the start of the text
	open   func(s *source.Source, r io.Reader) (rows.Reader, error)
	binary bool // is sniffed at the very first byte
	whole  bool // is read at any place; r is nil then
	named  bool // has its columns' names before the first row
}

// start opens the rows of a source.
func (c container) start(s *source.Source) (rows.Reader, error) {
	if c.whole {
		return c.open(s, nil)
	}
	return c.open(s, s.Reader())
}

// containers in the order in which they are tried; CSV takes any text.
func containers() []container {
	return []container{
		{name: "Parquet", sniff: columnar.IsParquet, open: whole(columnar.OpenParquet), binary: true, whole: true, named: true},
		{name: "Arrow", sniff: columnar.IsArrowFile, open: whole(columnar.OpenArrowFile), binary: true, whole: true, named: true},
		{name: "Arrow", sniff: columnar.IsArrowStream, open: columnar.OpenArrowStream, binary: true, named: true},
		{name: "YAML", sniff: textfile.IsCassette, open: textfile.OpenCassette},
		{name: "JSON lines", sniff: textfile.IsJSONL, open: textfile.OpenJSONL},
		{name: "JSON", sniff: textfile.IsJSON, open: textfile.OpenJSON},
		{name: "CSV", sniff: func([]byte) bool { return true }, open: textfile.OpenCSV, named: true},
	}
}

// whole opens what is read at any place.
func whole(open func(*source.Source) (rows.Reader, error)) func(*source.Source, io.Reader) (rows.Reader, error) {
	return func(s *source.Source, _ io.Reader) (rows.Reader, error) { return open(s) }
}

// containerOf tells the container by content. Its error says what the file is
// instead, for the kinds that turn up in practice.
func containerOf(s *source.Source, sets []*loglines.Set) (container, error) {
	head := s.Peek(64 << 10)
	if len(head) == 0 {
		if err := s.Failure(); err != nil && !s.Ended() {
			return container{}, s.Fail(err)
		}
		if s.Hole > 0 {
			return container{}, fmt.Errorf("%s: has nothing but zero bytes", s.Name)
		}
		return container{}, fmt.Errorf("%s: is empty", s.Name)
	}
	for _, c := range containers() {
		if c.binary && c.sniff(head) {
			return c, nil
		}
	}
	if kind := foreign(head); kind != "" {
		return container{}, fmt.Errorf("%s: is %s, which cannot be read here; export it as JSON lines, CSV or Parquet", s.Name, kind)
	}
	if isBinary(head) {
		return container{}, fmt.Errorf("%s: is binary and not a log that can be read; export it as JSON lines or CSV", s.Name)
	}
	text := bytes.TrimLeft(textfile.CutBOM(head), " \t\r\n\x1e")
	if len(text) == 0 && s.Ended() {
		return container{}, fmt.Errorf("%s: has nothing but blank lines", s.Name)
	}
	if bareList(text) {
		return container{}, fmt.Errorf("%s: its rows are JSON lists, which have no names; export them as objects", s.Name)
	}
	if c, ok := textContainer(s, sets, text); ok {
		return c, nil
	}
	text = firstLine(s, text)
	for _, c := range containers() {
		if !c.binary && c.sniff(text) {
			return c, nil
		}
	}
	return container{}, fmt.Errorf("%s: is in no format that can be read", s.Name)
}

// firstLine is the start of a text, longer where the first line of JSON is, as
// files of objects one after the other have a single line.
func firstLine(s *source.Source, text []byte) []byte {
	for n := 256 << 10; text[0] == '{' && bytes.IndexByte(text, '\n') < 0 && n <= 16<<20 && s.Failure() == nil; n *= 4 {
		text = bytes.TrimLeft(textfile.CutBOM(s.Peek(n)), " \t\r\n\x1e")
	}
	return text
}

// bareList takes lines or an array of lists, whose values have no names.
func bareList(text []byte) bool {
	if len(text) == 0 || text[0] != '[' {
		return false
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	inner := bytes.TrimLeft(text[1:], " \t\r\n")
	switch {
	case len(inner) > 0 && inner[0] == '[':
		return true
	case len(inner) > 0 && inner[0] == '"':
		return fastjson.ValidateBytes(line) == nil
	}
	return false
}

// foreign names the formats that turn up and are not read.
func foreign(head []byte) string {
	for _, f := range []struct{ magic, kind string }{
		{"Obj\x01", "an Avro file"}, {"FEA1", "a Feather file of version 1"}, {"ORC", "an ORC file"}, {"SQLite format", "an SQLite database"},
		{"PARE", "an encrypted Parquet file"}, {"PK", "a ZIP archive"}, {"%PDF", "a PDF"}, {"\x89PNG", "a picture"},
		{"\xd0\xcf\x11\xe0", "an old Excel or Office file"}, {"\x89HDF", "an HDF5 file"}, {"\xff\xfe\x00\x00", "UTF-32 text"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) && (f.magic != "ORC" || isBinary(head)) {
			return f.kind
		}
	}
	return ""
}

// isBinary looks for many bytes that no text has. A run of zero bytes counts
// once: it is a hole where a writer was stopped.
func isBinary(head []byte) bool {
	head = head[:min(len(head), 8<<10)]
	odd, zeros, before := 0, 0, rune(-1)
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		switch {
		case r == 0 && before != 0:
			zeros++
		case r == 0:
		case r == utf8.RuneError && n == 1, r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != 0x1b:
			odd++
		}
		before = r
		i += n
	}
	return odd > len(head)/5 || zeros > 1+len(head)/256
}
