package shape

import (
	"errors"
	"io"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
)

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
