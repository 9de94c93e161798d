package loglines

import (
	"bytes"
	"fmt"
	"regexp"
)

// Kind is a kind of line of a text log. The pattern must match near
// the start of the line; its named groups are the row's columns, under the
// name of the kind.
type Kind struct {
	Name   string            `yaml:"name"`
	Has    string            `yaml:"has"`    // text that such a line has, looked for first because that is fast
	Match  string            `yaml:"match"`  // RE2
	Rest   string            `yaml:"rest"`   // column for what follows the match
	Fields []string          `yaml:"fields"` // columns that hold "name: value, name: value" in Python's notation
	Python []string          `yaml:"python"` // columns that hold one Python value
	Times  map[string]string `yaml:"times"`  // columns of times with their Go layout
	Spans  []string          `yaml:"spans"`  // columns of durations such as 52.1ms; in seconds afterwards
}

// kind is a kind of line made ready.
type kind struct {
	Kind
	re     *regexp.Regexp
	groups []string
}

// Set are the kinds of line of one source.
type Set struct {
	fallback bool // only where no other set has a line
	events   []kind
}

// Compile compiles the patterns of kinds of line; nil when there are none. A
// fallback is for lines that no other set knows.
func Compile(kinds []Kind, fallback bool) (*Set, error) {
	if len(kinds) == 0 {
		return nil, nil
	}
	s := &Set{fallback: fallback}
	for _, e := range kinds {
		re, err := regexp.Compile(e.Match)
		if err != nil {
			return nil, fmt.Errorf("the pattern of %s lines does not compile; it takes RE2 syntax", e.Name)
		}
		if e.Name == "" || e.Match == "" {
			return nil, fmt.Errorf("a kind of line needs name and match")
		}
		s.events = append(s.events, kind{Kind: e, re: re, groups: re.SubexpNames()})
	}
	return s, nil
}

// matchHead is how much of a line a pattern sees. What follows the match goes
// into the rest column whole.
const matchHead = 2 << 10

// match finds the kind of a line and where its pattern's groups are.
func (s *Set) match(line []byte) (*kind, []int) {
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

// Sniff looks for lines that a set knows among the first of a text. A
// set of last resort is taken when no other one has any.
func Sniff(head []byte, sets []*Set) *Set {
	var t Reader
	var last *Set
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
