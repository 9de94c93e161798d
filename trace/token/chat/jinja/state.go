package jinja

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Limits bound one rendering.
type Limits struct {
	Steps int // evaluations and loop rounds; 0 is 10 million
	Bytes int // of all text and lists that it makes; 0 is 256 MiB
	Depth int // of macros and values inside each other; 0 is 200
}

// ErrLimit is the cause of errors about Limits.
var ErrLimit = errors.New("the template goes beyond a limit")

// Error is a rendering that failed, by the template's own raise_exception
// (Raised), by an operation that its values do not have, or by a limit.
type Error struct {
	Line   int
	What   string
	Raised bool // What is the template's text, which may quote a conversation
	cause  error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.What
	}
	return fmt.Sprintf("template line %d: %s", e.Line, e.What)
}

func (e *Error) Unwrap() error { return e.cause }

// internal begins the text of an error that is a fault of this package.
const internal = "the renderer fails: "

// state is one rendering. Failures are panics of *Error, which Render recovers.
type state struct {
	ctx    context.Context
	limits Limits
	steps  int
	bytes  int
	depth  int
	line   int
	out    []byte
	scope  *scope
	now    time.Time
	pipe   string // the text of a block before its filters
}

// scope holds the variables of a body.
type scope struct {
	names  []string
	values []any
	parent *scope
}

func (c *scope) set(name string, v any) {
	for i, n := range c.names {
		if n == name {
			c.values[i] = v
			return
		}
	}
	c.names, c.values = append(c.names, name), append(c.values, v)
}

func (c *scope) get(name string) (any, bool) {
	for ; c != nil; c = c.parent {
		for i, n := range c.names {
			if n == name {
				return c.values[i], true
			}
		}
	}
	return nil, false
}

// Vars are the variables that a template sees, in any order.
type Vars map[string]any

// Render renders the template. Values of vars are nil, bool, int64, float64,
// string, *List or *Dict. now is what strftime_now tells. Failures are *Error, or
// the context's error.
func (t *Template) Render(ctx context.Context, vars Vars, now time.Time, limits Limits) (text string, err error) {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&limits.Steps, 10_000_000)
	def(&limits.Bytes, 256<<20)
	def(&limits.Depth, 200)
	s := &state{ctx: ctx, limits: limits, now: now}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Error:
			text, err = "", e
			if c := ctx.Err(); c != nil && errors.Is(e, c) {
				err = c
			}
		case runtime.Error:
			text, err = "", &Error{Line: s.line, What: internal + e.Error()}
		default:
			panic(e)
		}
	}()
	root := &scope{}
	for name, v := range vars {
		root.set(name, v)
	}
	s.scope = &scope{parent: root}
	s.run(t.body)
	return string(s.out), nil
}

func (s *state) fail(format string, a ...any) {
	panic(&Error{Line: s.line, What: fmt.Sprintf(format, a...)})
}

func (s *state) limit(what string, n int) {
	panic(&Error{Line: s.line, What: fmt.Sprintf("the template makes more than %d %s", n, what), cause: ErrLimit})
}

// step counts work; the context is asked now and then.
func (s *state) step(n int) {
	before := s.steps
	s.steps += n
	if s.steps > s.limits.Steps {
		s.limit("steps", s.limits.Steps)
	}
	if before>>12 != s.steps>>12 {
		if err := s.ctx.Err(); err != nil {
			panic(&Error{What: err.Error(), cause: err})
		}
	}
}

// room fails where n more bytes would be too many; made counts them.
func (s *state) room(n int) {
	if n < 0 || n > s.limits.Bytes-s.bytes {
		s.limit("bytes", s.limits.Bytes)
	}
}

func (s *state) made(n int) {
	s.room(n)
	s.bytes += n
	s.step(n / 256)
}

// deeper goes one level down; the caller defers its result.
func (s *state) deeper() func() {
	if s.depth++; s.depth > s.limits.Depth {
		s.depth = 0
		s.limit("levels", s.limits.Depth)
	}
	return s.back
}

func (s *state) back() { s.depth-- }

// run runs statements in order.
func (s *state) run(body []node) flow {
	for _, n := range body {
		s.step(1)
		if f := n.run(s); f != flowOn {
			return f
		}
	}
	return flowOn
}

// inner runs statements in a scope of their own.
func (s *state) inner(sc *scope, body []node) flow {
	outer := s.scope
	s.scope = sc
	f := s.run(body)
	s.scope = outer
	return f
}

// capture returns what f writes.
func (s *state) capture(f func()) string {
	outer := s.out
	s.out = nil
	f()
	text := string(s.out)
	s.out = outer
	return text
}

// write appends to the output.
func (s *state) write(text string) {
	s.made(len(text))
	s.out = append(s.out, text...)
}
