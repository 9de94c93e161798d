package textfile

import "bytes"

// splitter cuts a row of CSV into fields, line by line while a quote is open.
// Fields are valid until start is called or the line's buffer changes.
type splitter struct {
	sep    byte
	fields [][]byte
	raw    []byte // of the fields of lines with quotes
	spans  []span // of those, as raw may move; empty for a line without quotes
	from   int    // of the open field in raw
	open   bool   // a quoted field goes on in the next line
	stray  bool   // a quote stood in a quoted field without a second one
}

// span is where a field lies in raw.
type span struct{ from, to int }

func (s *splitter) start(sep byte) {
	s.sep, s.open, s.stray = sep, false, false
	s.fields, s.raw, s.spans = s.fields[:0], s.raw[:0], s.spans[:0]
}

// line takes the next line in and reports whether the row ends with it.
func (s *splitter) line(text []byte) bool {
	if s.open {
		s.raw = append(s.raw, '\n')
	} else if bytes.IndexByte(text, '"') < 0 {
		s.plain(text)
		return true
	}
	for {
		rest, more := s.field(text)
		if s.open {
			return false
		}
		if !more {
			break
		}
		text = rest
	}
	for _, p := range s.spans {
		s.fields = append(s.fields, s.raw[p.from:p.to])
	}
	return true
}

// plain cuts a line without quotes.
func (s *splitter) plain(text []byte) {
	for {
		i := bytes.IndexByte(text, s.sep)
		if i < 0 {
			s.fields = append(s.fields, text)
			return
		}
		s.fields = append(s.fields, text[:i])
		text = text[i+1:]
	}
}

// field takes one field off text; more says that a separator follows it.
func (s *splitter) field(text []byte) (rest []byte, more bool) {
	if !s.open {
		if len(text) == 0 || text[0] != '"' {
			field, rest, more := bytes.Cut(text, []byte{s.sep})
			s.from = len(s.raw)
			s.raw = append(s.raw, field...)
			s.spans = append(s.spans, span{s.from, len(s.raw)})
			return rest, more
		}
		text = text[1:]
		s.open, s.from = true, len(s.raw)
	}
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			s.raw = append(s.raw, text...)
			return nil, false
		}
		s.raw = append(s.raw, text[:i]...)
		text = text[i+1:]
		switch {
		case len(text) == 0 || text[0] == s.sep:
			s.open = false
			s.spans = append(s.spans, span{s.from, len(s.raw)})
			if len(text) == 0 {
				return nil, false
			}
			return text[1:], true
		case text[0] == '"':
			text = text[1:]
		default:
			s.stray = true
		}
		s.raw = append(s.raw, '"')
	}
}
