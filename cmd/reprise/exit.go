package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The exit codes of every verb.
const (
	exitDone        = 0
	exitFailed      = 1   // failed; nothing was left under the final name
	exitUsage       = 2   // the command line is wrong
	exitNo          = 3   // the answer is no: signature invalid, SLO missed
	exitDistrust    = 4   // ran, but do not trust it: the client was late
	exitInterrupted = 130 // interrupted; a partial result is kept
)

// usageError is a wrong command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

// verdict is an answer, given already, that sets the exit code; its words go
// to stderr.
type verdict struct {
	code  int
	words string
}

func (v verdict) Error() string { return v.words }

// interrupted wraps whatever ended a verb after a signal.
type interrupted struct{ err error }

func (e interrupted) Error() string { return e.err.Error() }
func (e interrupted) Unwrap() error { return e.err }

// hint is an error with what to do next, on a line of its own.
type hint struct {
	err  error
	next string
}

func (e hint) Error() string { return e.err.Error() }
func (e hint) Unwrap() error { return e.err }

func withHint(err error, next string, a ...any) error { return hint{err, fmt.Sprintf(next, a...)} }

// exit prints err once and maps it to the exit code.
func (io *stdio) exit(err error) int {
	if err == nil {
		return exitDone
	}
	var v verdict
	if errors.As(err, &v) {
		if v.words != "" {
			fmt.Fprintf(io.err, "reprise: %s\n", oneLine(v.words))
		}
		return v.code
	}
	if errors.Is(err, errBrokenPipe) {
		return exitDone
	}
	if errors.Is(err, context.Canceled) {
		err = interrupted{errors.New("interrupted; nothing was written")}
	}
	fmt.Fprintf(io.err, "reprise: error: %s\n", oneLine(inWords(err)))
	var h hint
	if errors.As(err, &h) {
		fmt.Fprintf(io.err, "reprise: hint: %s\n", oneLine(h.next))
	}
	var u usageError
	var i interrupted
	switch {
	case errors.As(err, &i):
		return exitInterrupted
	case errors.As(err, &u):
		return exitUsage
	}
	return exitFailed
}

// unlessInterrupted runs work that does not look at a context, and returns as
// soon as the context ends; the process is about to end too. Work must not be
// writing anything.
func unlessInterrupted(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unlessStopped is unlessInterrupted of work that has a result.
func unlessStopped[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := work()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// oneLine keeps errors on one line whatever a library puts into them.
func oneLine(s string) string { return visible(strings.Join(strings.Fields(s), " ")) }
