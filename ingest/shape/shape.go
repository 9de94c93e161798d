package shape

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/loglines"
	"reprise/ingest/notation"
	"reprise/ingest/rows"
)

// File is the part of a mapping that says how the rows of a file become
// requests where it is not one row a request. One of join, conversation,
// transcript and chain at most; lines says how lines of text become rows before that.
type File struct {
	Lines        []loglines.Kind   `yaml:"lines"`
	Fallback     bool              `yaml:"fallback"`
	Join         *joinFile         `yaml:"join"`
	Conversation *conversationFile `yaml:"conversation"`
	Transcript   *transcriptFile   `yaml:"transcript"`
	Chain        *chainFile        `yaml:"chain"`

	set *loglines.Set // lines made ready by Check; nil for none
}

// Shaper turns rows into requests. It keeps nothing of a row that it is given
// but copies.
type Shaper interface {
	// add takes a row. The value is valid until add returns.
	add(pos rows.Pos, v *fastjson.Value)
	// end says that no row of this file follows; last, that none of the log does.
	end(last bool)
	// next gives a request that is ready, valid until the next call of any method.
	next() (rows.Pos, *fastjson.Value, bool)
	// Counts says what became of rows that are no requests by themselves.
	Counts() Counts
}

// Counts accounts for rows that were put together or apart.
type Counts struct {
	Rows     int64 // given to the shaper
	Requests int64 // that came out
	copies   int64 // of requests that were there before
	alone    int64 // without their other half
	open     int64 // answers without a question, which are no requests
}

// Lines are what a person should know of them.
func (c Counts) Lines() []string {
	if c.Rows == 0 {
		return nil
	}
	out := []string{fmt.Sprintf("%d rows of the log were read as %d requests", c.Rows, c.Requests)}
	for _, n := range []struct {
		n    int64
		what string
	}{{c.copies, "requests were there more than once and are counted once"},
		{c.alone, "requests have only one half of what the log says of a request"},
		{c.open, "answers stand before any question and are no requests"}} {
		if n.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	return out
}

// NewShaper makes the shaper of a mapping, nil when rows are requests already.
func (f *File) NewShaper() Shaper {
	switch {
	case f == nil:
	case f.Join != nil:
		return newJoiner(f.Join)
	case f.Conversation != nil:
		return newConversation(f.Conversation)
	case f.Transcript != nil:
		return newTranscript(f.Transcript)
	case f.Chain != nil:
		return newChainer(f.Chain)
	}
	return nil
}

// LineSet is the kinds of line of a text log that a shape knows, nil for none.
// Check makes them ready.
func (f *File) LineSet() *loglines.Set {
	if f == nil {
		return nil
	}
	return f.set
}

// Check reports what is wrong with a shape.
func (f *File) Check() error {
	n := 0
	for _, there := range []bool{f.Join != nil, f.Conversation != nil, f.Transcript != nil, f.Chain != nil} {
		if there {
			n++
		}
	}
	if n > 1 {
		return errors.New("a shape takes one of join, conversation, transcript and chain")
	}
	var err error
	if f.set, err = loglines.Compile(f.Lines, f.Fallback); err != nil {
		return err
	}
	switch {
	case f.Join != nil:
		f.Join.ofLines(f.Lines)
		return f.Join.check()
	case f.Conversation != nil:
		return f.Conversation.check()
	case f.Transcript != nil:
		return f.Transcript.check()
	case f.Chain != nil:
		return f.Chain.check()
	}
	return nil
}

// shaped are the requests that a shaper makes of a file's rows.
type shaped struct {
	from  rows.ValueReader
	shape Shaper
	last  bool // no file follows
	ended bool
	value *fastjson.Value
}

func (s *shaped) Next() (rows.Pos, error) {
	for {
		pos, v, ok := s.shape.next()
		if ok {
			s.value = v
			return pos, nil
		}
		if s.ended {
			return rows.Pos{}, io.EOF
		}
		pos, err := s.from.Next()
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			s.ended = true
			s.shape.end(s.last)
		case err != nil:
			return pos, err
		default:
			s.shape.add(pos, s.from.Current())
		}
	}
}

// nothing is a file without rows.
type nothing struct{ rows.Reader }

func (nothing) Next() (rows.Pos, error)  { return rows.Pos{}, io.EOF }
func (nothing) Current() *fastjson.Value { return nil }

// Rest is the requests that waited for rows of another file, when none follows.
func Rest(s Shaper) rows.Reader { return &shaped{from: nothing{}, shape: s, last: true} }

func (s *shaped) Names(add func(string)) { notation.Names(s.value, add) }

func (s *shaped) Fill(p *rows.Plan) *rows.Error {
	return p.Take(s.value)
}

// condition is "path", which a row must have, "path=text", or "path!=text",
// which holds without the path too; with & between them all must hold.
type condition string

func (c condition) holds(v *fastjson.Value) bool {
	for one := range strings.SplitSeq(string(c), "&") {
		if !holds(v, one) {
			return false
		}
	}
	return true
}

func holds(v *fastjson.Value, c string) bool {
	path, want, equal := strings.Cut(c, "=")
	if not, ok := strings.CutSuffix(path, "!"); ok && equal {
		return !holds(v, not+"="+want)
	}
	t := notation.Lookup(v, path)
	if t == nil || !equal {
		return t != nil
	}
	if t.Type() == fastjson.TypeString {
		b, _ := t.StringBytes()
		return string(b) == want
	}
	return notation.Text(t) == want
}

// conditions hold when any of them does.
type conditions []condition

func (cs conditions) any(v *fastjson.Value) bool {
	for _, c := range cs {
		if c.holds(v) {
			return true
		}
	}
	return false
}

// Of puts a shaper behind the rows; without one they are requests already.
func Of(from rows.Reader, s Shaper, last bool) (rows.Reader, error) {
	if s == nil {
		return from, nil
	}
	values, ok := from.(rows.ValueReader)
	if !ok {
		return nil, errors.New("rows of this source come as JSON; export it so")
	}
	return &shaped{from: values, shape: s, last: last}, nil
}
