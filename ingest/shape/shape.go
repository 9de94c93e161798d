package shape

import (
	"errors"
	"fmt"

	"github.com/valyala/fastjson"

	"reprise/ingest/loglines"
	"reprise/ingest/rows"
)

// File is the part of a mapping that says how the rows of a file become requests
// where it is not one row a request. One of join, conversation, transcript and
// chain at most; lines says how lines of text become rows before that.
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
