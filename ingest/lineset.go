package ingest

import (
	"bytes"
	"fmt"
	"io"
	"regexp"

	"reprise/ingest/rows"
	"reprise/ingest/source"
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

// newLineSet compiles the patterns of a mapping, where its check has not done so
// before; nil when it has none.
func newLineSet(source string, f *shapeFile) (*lineSet, error) {
	if f == nil || len(f.Lines) == 0 {
		return nil, nil
	}
	s := &lineSet{source: source, fallback: f.Fallback, events: f.events}
	for i := len(s.events); i < len(f.Lines); i++ {
		e := f.Lines[i]
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
func textContainer(s *source.Source, sets []*lineSet, head []byte) (container, bool) {
	if len(sets) == 0 || len(head) == 0 {
		return container{}, false
	}
	size := 1 << 20 // servers say much before the first request
	if head[0] == '{' || head[0] == '[' {
		size = 256 << 10
	}
	set := sniffLineSet(s.Peek(size), sets)
	if set == nil {
		return container{}, false
	}
	return container{name: "text lines", open: func(s *source.Source, r io.Reader) (rows.Reader, error) { return openTextLines(s, r, set) }}, true
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
