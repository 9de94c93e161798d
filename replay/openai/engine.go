package openai

import (
	"context"
	"errors"
	"math"
	"time"

	"reprise/replay"
	"reprise/trace"
)

// engine moves requests and answers over connections. Both kinds give the same
// results of the same bytes, but for the stamps.
type engine interface {
	// exchange sends a request once, hands what comes back to rc and notes in
	// q.seen what it saw. Its error is nil when the answer came to its end or rc
	// had enough.
	exchange(ctx context.Context, q *query, rc receiver) error
	// connect opens up to n connections ahead, and returns how many it did.
	connect(ctx context.Context, n int) int
	close()
}

// query is one request to be sent.
type query struct {
	flight *replay.Flight
	get    bool   // the list of models
	room   int    // what data has free in front, for the head
	data   []byte // the body from room on
	limits limits
	seen   passage
	deep   bool // the answer is read on a stack that many share
	anew   bool // over a connection that has served nobody
}

func (q *query) body() []byte { return q.data[q.room:] }

// receiver takes an answer as it comes.
type receiver interface {
	// head takes the status and the header; false: the body is not wanted.
	head(status int, f fields) bool
	// body takes the next bytes of the body. at is the stamp of the read that
	// brought them, ns from the run's zero.
	body(b []byte, at int64) progress
}

// progress is what bytes of a body meant for a request's limits.
type progress uint8

const (
	still    progress = iota // nothing: comments keep a connection open, no more
	moving                   // something, before the first token or after
	begun                    // the first token has come
	finished                 // all that counts has come; the end may follow
	enough                   // no more is wanted
)

// passage is what an engine saw of a request and its answer, but for the
// bytes. Instants are ns from the run's zero.
type passage struct {
	protocol                   string // replay.HTTP1, HTTP2; empty: there was no connection
	ready, writeEnd, firstByte trace.Opt[int64]
	dns, tcp, tls              trace.Opt[int64] // µs
	reused                     trace.Opt[bool]
	tlsBroken                  bool
	// stale: the server closed a connection that had served before, without a
	// byte of answer. The request may or may not have been read.
	stale bool
}

// into copies what was seen into a result.
func (p *passage) into(r *replay.Result) {
	r.Protocol = p.protocol
	r.ConnReady, r.WriteEnd, r.FirstByte, r.Reused = p.ready, p.writeEnd, p.firstByte, p.reused
	if p.reused.OK && !p.reused.V {
		r.DNS, r.TCP, r.TLS = p.dns, p.tcp, p.tls
	}
}

// limits bound a request, from when it is sent; negative: none.
type limits struct{ first, idle, total time.Duration }

// errLinger ends the wait for the end of an answer that says all that counts.
var errLinger = errors.New("the body did not end after [DONE]")

// linger is how long that wait is, for a connection that can be used again.
const linger = time.Second

// patience is where a request stands with its limits, by the client's clock.
type patience struct {
	limits
	start, moved int64
	began, done  bool
}

// take notes what bytes that were read at now meant.
func (p *patience) take(what progress, now int64) {
	switch {
	case p.done:
	case what == finished:
		p.done, p.moved = true, now
	case what == begun, what == moving && p.began:
		p.began, p.moved = true, now
	}
}

// due returns when the request ends by its limits, and by which.
func (p *patience) due() (int64, error) {
	at, err := after(p.start, p.first), errFirstToken
	switch {
	case p.done:
		at, err = after(p.moved, linger), errLinger
	case p.began:
		at, err = after(p.moved, p.idle), errIdle
	}
	if total := after(p.start, p.total); total < at {
		at, err = total, errTotal
	}
	return at, err
}

// after adds a limit to an instant.
func after(at int64, d time.Duration) int64 {
	if d < 0 || at > math.MaxInt64-int64(d) {
		return math.MaxInt64
	}
	return at + int64(d)
}
