package ingest

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"
)

// lineEventFile is a kind of line of a text log. The pattern must match near
// the start of the line; its named groups are the row's columns, under the
// name of the kind.
type lineEventFile struct {
	Name   string            `yaml:"name"`
	Has    string            `yaml:"has"`    // text that such a line has, looked for first because that is fast
	Match  string            `yaml:"match"`  // RE2
	Rest   string            `yaml:"rest"`   // column for what follows the match
	Fields []string          `yaml:"fields"` // columns that hold "name: value, name: value" in Python's notation
	Python []string          `yaml:"python"` // columns that hold one Python value
	Times  map[string]string `yaml:"times"`  // columns of times with their Go layout
	Spans  []string          `yaml:"spans"`  // columns of durations such as 52.1ms; in seconds afterwards
}

// lineEvent is a kind of line made ready.
type lineEvent struct {
	lineEventFile
	re     *regexp.Regexp
	groups []string
}

// lineSet are the kinds of line of one source.
type lineSet struct {
	source   string
	fallback bool // only where no other set has a line
	events   []lineEvent
}

// newLineSet compiles the patterns of a mapping; nil when it has none.
func newLineSet(source string, f *shapeFile) (*lineSet, error) {
	if f == nil || len(f.Lines) == 0 {
		return nil, nil
	}
	s := &lineSet{source: source, fallback: f.Fallback}
	for _, e := range f.Lines {
		re, err := regexp.Compile(e.Match)
		if err != nil {
			return nil, fmt.Errorf("the pattern of %s lines does not compile; it takes RE2 syntax", e.Name)
		}
		if e.Name == "" || e.Match == "" {
			return nil, fmt.Errorf("a kind of line needs name and match")
		}
		s.events = append(s.events, lineEvent{lineEventFile: e, re: re, groups: re.SubexpNames()})
	}
	return s, nil
}

// matchHead is how much of a line a pattern sees. What follows the match goes
// into the rest column whole.
const matchHead = 2 << 10

// match finds the kind of a line and where its pattern's groups are.
func (s *lineSet) match(line []byte) (*lineEvent, []int) {
	head := line[:min(len(line), matchHead)]
	for i := range s.events {
		if !bytes.Contains(head, []byte(s.events[i].Has)) {
			continue
		}
		if at := s.events[i].re.FindSubmatchIndex(head); at != nil {
			return &s.events[i], at
		}
	}
	return nil, nil
}

// textLines are the lines of a text log that a set knows, as JSON: the columns
// under the name of the kind. Other lines (banners, statistics) are no rows and
// are counted.
type textLines struct {
	file   string
	lines  *lines
	set    *lineSet
	parser fastjson.Parser
	inner  fastjson.Parser
	value  *fastjson.Value
	buf    []byte
	items  int64
	other  int64 // lines that are no rows
	clock  yearless
}

func openTextLines(s *source, r io.Reader, set *lineSet) (rows, error) {
	return &textLines{file: s.name, lines: newLines(r, maxRow), set: set}, nil
}

func (t *textLines) next() (Pos, error) {
	for {
		line, tooLong, err := t.lines.next()
		if err != nil {
			return Pos{}, err
		}
		if tooLong {
			t.items++
			return t.pos(), bad(LineTooLong, "")
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
			return pos, bad(BadLine, "a "+e.Name+" line is not as it should be")
		}
		return pos, nil
	}
}

func (t *textLines) pos() Pos {
	return Pos{File: t.file, Line: t.lines.line, Item: t.items, Byte: t.lines.start}
}

// row makes the JSON of a line.
func (t *textLines) row(e *lineEvent, text []byte, groups []int, at string) bool {
	t.buf = append(appendJSONString(append(t.buf[:0], '{'), e.Name), `:{"line":true`...)
	if at != "" {
		t.column("wrapped_at")
		t.buf = appendJSONString(t.buf, at)
	}
	for i, name := range e.groups {
		if name == "" || groups[2*i] < 0 {
			continue
		}
		if !t.cell(e, name, own(text[groups[2*i]:groups[2*i+1]])) {
			return false
		}
	}
	if e.Rest != "" && !t.cell(e, e.Rest, own(text[groups[1]:])) {
		return false
	}
	t.buf = append(t.buf, "}}"...)
	v, err := t.parser.ParseBytes(t.buf)
	t.value = v
	return err == nil
}

func (t *textLines) column(name string) {
	t.buf = append(appendJSONString(append(t.buf, ','), name), ':')
}

// cell writes one column in the way that its kind of line asks for.
func (t *textLines) cell(e *lineEvent, name, text string) (ok bool) {
	t.column(name)
	switch layout := e.Times[name]; {
	case layout != "":
		var s string
		if s, ok = t.clock.format(layout, text); ok {
			t.buf = appendJSONString(t.buf, s)
		}
		return ok
	case slices.Contains(e.Fields, name):
		t.buf, ok = pyFields(t.buf, text)
	case slices.Contains(e.Python, name):
		t.buf, ok = pyValue(t.buf, text)
	case slices.Contains(e.Spans, name):
		var d time.Duration
		if d, ok = spanText(text); ok {
			t.buf = strconv.AppendFloat(t.buf, d.Seconds(), 'f', -1, 64)
		}
	default:
		t.buf, ok = appendJSONString(t.buf, text), true
	}
	return ok
}

// spanText reads a duration as Go and Rust print it: 521.3ms, 41µs, 1.2s, 1m2s.
func spanText(s string) (time.Duration, bool) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	return d, err == nil && d >= 0
}

func (t *textLines) names(add func(string))   { nameValue("", t.value, maxNameDepth, add) }
func (t *textLines) current() *fastjson.Value { return t.value }

func (t *textLines) fill(p *plan) *RowError {
	p.start()
	p.walk(&p.root, t.value)
	if p.dup {
		return bad(DuplicateKey, "a mapped column is there twice")
	}
	return nil
}

// The envelopes that container runtimes and loggers put lines into, and where
// their time is.
func envelopeKeys() (text, at []string) {
	return []string{"log", "MESSAGE", "message", "msg", "line", "text", "body"},
		[]string{"time", "__REALTIME_TIMESTAMP", "@timestamp", "timestamp", "asctime", "ts"}
}

// unwrap takes a line out of its envelope: Docker's and journald's JSON, a JSON
// logger's, Kubernetes' "time stdout F ". at is the envelope's time.
func (t *textLines) unwrap(line []byte) (text []byte, at string) {
	line = plainLine(line)
	if len(line) > 0 && line[0] == '{' {
		v, err := t.inner.ParseBytes(line)
		if err != nil {
			return line, ""
		}
		texts, times := envelopeKeys()
		for _, key := range texts {
			if b := v.GetStringBytes(key); b != nil {
				return plainLine(bytes.TrimSpace(b)), lookupText(v, times...)
			}
		}
		return line, ""
	}
	stamp, rest, ok := bytes.Cut(line, []byte(" "))
	for _, stream := range []string{"stdout F ", "stderr F ", "stdout P ", "stderr P "} {
		if ok && bytes.HasPrefix(rest, []byte(stream)) {
			return plainLine(rest[len(stream):]), string(stamp)
		}
	}
	return line, ""
}

// plainLine cuts the colours for terminals out.
func plainLine(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	var out []byte
	for {
		at := bytes.IndexByte(line, 0x1b)
		if at < 0 {
			return append(out, line...)
		}
		out, line = append(out, line[:at]...), line[at+1:]
		if bytes.HasPrefix(line, []byte("[")) {
			end := bytes.IndexFunc(line[1:], func(r rune) bool { return r >= '@' && r <= '~' })
			line = line[min(len(line), end+2):]
		}
	}
}

// yearless reads times by their layout. One without a year counts seconds from
// the start of a year that nobody knows; when December is followed by January,
// the count goes on.
type yearless struct {
	years int
	month time.Month
}

func (y *yearless) format(layout, text string) (string, bool) {
	at, err := time.Parse(layout, text)
	switch {
	case err != nil:
		return "", false
	case at.Year() > 0 && strings.Contains(layout, "07"): // the layout has a zone
		return at.Format("2006-01-02T15:04:05.999999Z07:00"), true
	case at.Year() > 0:
		return at.Format("2006-01-02T15:04:05.999999"), true
	}
	if y.month == time.December && at.Month() == time.January {
		y.years++
	}
	y.month = at.Month()
	from := at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)) + time.Duration(y.years)*366*24*time.Hour
	return strconv.FormatFloat(from.Seconds(), 'f', 6, 64), true
}

// lineSets are the kinds of line of the known sources, and of the user's own
// mapping before them.
func lineSets(known []schema, own *Mapping) []*lineSet {
	var out []*lineSet
	if own != nil && own.file != nil {
		known = append([]schema{*own.file}, known...)
	}
	for i := range known {
		if set, err := newLineSet(known[i].name, known[i].mapping.shape); err == nil && set != nil {
			out = append(out, set)
		}
	}
	return out
}

// textContainer is the container of a text log, when a set knows lines of it.
func (s *source) textContainer(head []byte) (container, bool) {
	if len(s.sets) == 0 || len(head) == 0 {
		return container{}, false
	}
	size := 1 << 20 // servers say much before the first request
	if head[0] == '{' || head[0] == '[' {
		size = 256 << 10
	}
	set := sniffLineSet(s.peek(size), s.sets)
	if set == nil {
		return container{}, false
	}
	return container{name: "text lines", open: func(s *source, r io.Reader) (rows, error) { return openTextLines(s, r, set) }}, true
}

// sniffLineSet looks for lines that a set knows among the first of a text. A
// set of last resort is taken when no other one has any.
func sniffLineSet(head []byte, sets []*lineSet) *lineSet {
	var t textLines
	var last *lineSet
	for n := 0; n < 2000 && len(head) > 0; n++ {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		head = rest
		text, _ := t.unwrap(bytes.TrimSpace(line))
		for _, s := range sets {
			if s.fallback && last != nil {
				continue
			}
			if e, _ := s.match(text); e == nil {
				continue
			}
			if !s.fallback {
				return s
			}
			last = s
		}
	}
	return last
}
