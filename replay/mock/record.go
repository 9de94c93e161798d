package mock

import (
	"sync"
	"time"

	"reprise/replay/mock/engine"
)

// contact is what a server knows of a request's connection.
type contact struct {
	conn   int64     // number of the connection, from 1
	nth    int       // requests on it before this one
	head   int       // bytes of request line and headers; 0 where not known
	names  []string  // of the headers, in order where the server has it
	at     time.Time // when the first bytes came
	kernel bool      // at is the kernel's receive stamp
	proto  string
	early  bool // the request was there before the answer to the last one had ended
}

// arrival is one recorded request. The recording's lock guards it.
type arrival struct {
	contact
	chat     bool
	arrived  time.Duration
	body     int
	decoded  bool
	prompt   int32
	asked    int32 // 0 for not asked
	hashes   []uint64
	stream   bool
	status   int
	tokens   int32
	cached   int32
	finish   engine.Finish
	first    time.Duration // first token written; 0 for none
	last     time.Duration // end of the answer; 0 while going
	answered bool          // the whole answer was written
}

// recording keeps what arrived. A nil one keeps nothing.
type recording struct {
	mu       sync.Mutex
	arrivals []*arrival
}

// arrive notes a request whose body has been read.
func (r *recording) arrive(q *query, chat bool, body int) *arrival {
	if r == nil {
		return nil
	}
	a := &arrival{contact: q.contact, chat: chat, arrived: q.arrived, body: body}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrivals = append(r.arrivals, a)
	return a
}

// decoded notes what was asked for.
func (r *recording) decoded(a *arrival, j *job) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a.decoded, a.prompt, a.asked, a.stream = true, j.req.Prompt, j.call.maxTokens, j.call.stream
	a.hashes = j.req.Blocks
}

// refused notes an answer without tokens.
func (r *recording) refused(a *arrival, status int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a.status, a.answered = status, true
}

// token notes a token that was written at an instant.
func (r *recording) token(a *arrival, ev engine.Event, written time.Duration) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.first == 0 {
		a.first = max(written, 1)
	}
	a.status, a.tokens, a.cached, a.last = 200, ev.N, ev.Cached, written
	if ev.Finish != engine.Going {
		a.finish, a.answered = ev.Finish, true
	}
}

// left notes that the client went away, or that the answer was cut.
func (r *recording) left(a *arrival, at time.Duration) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !a.answered {
		a.finish, a.last = engine.Abort, at
	}
}
