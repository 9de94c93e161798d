package textfile

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"reprise/ingest/rows"
)

// page is an object that holds a list of rows, as interfaces answer in pages.
type page struct {
	key string // of the list; empty for an object that is a row itself
	// nested says that the entries of the list hold requests and are no rows by
	// themselves: mappings look for them under the key.
	nested bool
}

// Keys of lists whose entries are rows, of lists that are part of one row or
// session, and of what only a row has.
func pageKeys() []string {
	return []string{"data", "items", "results", "result", "records", "value", "rows", "logs", "entries", "hits", "list", "completions"}
}

func nestedKeys() []string {
	return []string{"resourceSpans", "resource_spans", "resourceLogs", "resource_logs", "spans", "observations", "batches", "trajectory", "history", "steps", "interactions"}
}

func partKeys() []string {
	return []string{"messages", "choices", "tools", "conversations", "conversation", "input", "output", "content", "contents",
		"parts", "events", "prompt", "candidates", "request", "response", "usage", "body", "requests", "tool_calls", "segments",
		"attributes", "links", "post", "patch", "turns"}
}

// pageOf tells a page by the start of its text: by the name of a list of
// objects in it, or as the object that is mostly such a list.
func pageOf(text []byte) page {
	best, size, whole := "", 0, 0
	row := false
	for m := range members(text) {
		whole += len(m.value)
		row = row || slices.Contains(partKeys(), m.key)
		switch {
		case !isList(m.value) || slices.Contains(partKeys(), m.key):
		case slices.Contains(nestedKeys(), m.key):
			return page{m.key, true}
		case slices.Contains(pageKeys(), m.key) && (best == "" || !slices.Contains(pageKeys(), best)):
			best, size = m.key, len(m.value)
		case len(m.value) > size && !slices.Contains(pageKeys(), best):
			best, size = m.key, len(m.value)
		}
	}
	known := slices.Contains(pageKeys(), best)
	if row || !known && 2*size <= whole {
		return page{}
	}
	return page{key: best}
}

// isList takes a list of objects, and one that is empty.
func isList(value []byte) bool {
	if len(value) == 0 || value[0] != '[' {
		return false
	}
	inner := bytes.TrimLeft(value[1:], " \t\r\n")
	return len(inner) > 0 && (inner[0] == '{' || inner[0] == ']')
}

type jsonMember struct {
	key   string
	value []byte
}

// members walks the first object of a text, whose last value may be cut.
func members(text []byte) func(yield func(jsonMember) bool) {
	return func(yield func(jsonMember) bool) {
		blank := func(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n\x1e,") }
		text = blank(CutBOM(text))
		if len(text) == 0 || text[0] != '{' {
			return
		}
		for text = blank(text[1:]); len(text) > 0 && text[0] == '"'; text = blank(text) {
			var s splitState
			n, done := s.scan(text)
			if !done || n > 200 {
				return
			}
			key := string(text[1 : n-1])
			text = blank(text[n:])
			if len(text) == 0 || text[0] != ':' {
				return
			}
			text = blank(text[1:])
			s = splitState{}
			n, _ = s.scan(text)
			if !yield(jsonMember{key, bytes.TrimSpace(text[:n])}) {
				return
			}
			text = text[n:]
		}
	}
}

// maxAbove is how much of a page beside its list is kept for its rows.
const maxAbove = 1 << 20

// member reads what stands beside the list of a page: a key and its value, or
// the end. A page that turns out to have no list is a row.
func (v *values) member(c byte) (row bool, pos rows.Pos, err error) {
	switch c {
	case '}':
		v.enter(atTop)
		return false, rows.Pos{}, nil
	case '"':
	default: // no member can begin like this: what follows is damaged
		v.items++
		pos = v.pos()
		if _, err := v.element(); err != nil && !errors.Is(err, io.EOF) {
			return true, pos, err
		}
		v.within = atTop
		return true, pos, rows.Bad(rows.BadJSON, "a page's object is damaged")
	}
	start := v.pos()
	if _, err = v.element(); err != nil {
		return v.torn(start, err)
	}
	key := string(v.buf)
	if c, err = v.skip(); err == nil && c == ':' {
		v.r.Discard(1)
		v.off++
		c, err = v.skip()
	}
	if err != nil {
		return v.torn(start, err)
	}
	if c == '[' && key == `"`+v.page.key+`"` {
		v.enter(inList)
		v.parse()
		return false, rows.Pos{}, nil
	}
	tooLong, err := v.element()
	if err != nil {
		return v.torn(start, err)
	}
	if !tooLong && len(v.parent)+len(key)+len(v.buf) < maxAbove {
		v.parent = append(append(append(append(v.parent, key...), ':'), v.buf...), ',')
	}
	return false, rows.Pos{}, nil
}

// torn is a page that ends inside what stands beside its list.
func (v *values) torn(pos rows.Pos, err error) (bool, rows.Pos, error) {
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		v.items++
		pos.Item = v.items
		pos, err = v.cut("the file ends inside a page", pos)
	}
	return true, pos, err
}

// parse makes what stands before the list ready for its rows.
func (v *values) parse() {
	v.above = nil
	if len(v.parent) == 0 || v.page.nested {
		return
	}
	text := append([]byte{'{'}, v.parent...)
	text[len(text)-1] = '}'
	if above, err := v.outer.ParseBytes(text); err == nil {
		v.above = above
	} else {
		v.parent = v.parent[:0]
	}
}
