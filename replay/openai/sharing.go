package openai

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"reprise/trace"
)

// sharing tells the writes of requests apart that share a connection (HTTP/2). The
// transport reads the last of a body just before it writes that and tells when it
// has: the write lies between the two, and others may too. The first of them is
// taken, so that no TTFT is flattered; it is early by what others wrote while this
// one waited its turn. A body larger than the window that a server gives at first
// may have waited for more of it, and there the last write is taken.
type sharing struct {
	on  atomic.Bool
	mu  sync.Mutex
	due []*trip // whose last write comes
}

// firstWindow is what a server takes of a body without a word (RFC 9113 §6.9.2).
const firstWindow = 65_535

// read notes that the last of a body has been read.
func (s *sharing) read(t *trip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.soonest = trace.Opt[int64]{}
	if !slices.Contains(s.due, t) {
		s.due = append(s.due, t)
	}
}

// sent notes a write.
func (s *sharing) sent(at int64) {
	if !s.on.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.due {
		t.soonest = trace.Some(at)
	}
	clear(s.due)
	s.due = s.due[:0]
}

// end returns when the last of a request was written, wrote being the connection's
// last write.
func (s *sharing) end(t *trip, wrote int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !t.soonest.OK || t.size > firstWindow {
		return wrote
	}
	return t.soonest.V
}

// leave forgets a request that is over, whose last write may never come.
func (s *sharing) leave(t *trip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = slices.DeleteFunc(s.due, func(o *trip) bool { return o == t })
}

// leave forgets a request that is over, whatever became of its connection.
func (t *trip) leave() {
	t.mu.Lock()
	conn := t.conn
	t.mu.Unlock()
	if conn != nil {
		conn.many.leave(t)
	}
}

// outgoing is the body of a request, and says when the transport reads its last.
type outgoing struct {
	*bytes.Reader
	trip *trip
}

func (o *outgoing) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if o.Len() == 0 {
		o.trip.bodyRead()
	}
	return n, err
}

// Close is for the transport, which closes bodies.
func (o *outgoing) Close() error { return nil }

// bodyRead notes that the transport has read the last of the body.
func (t *trip) bodyRead() {
	t.mu.Lock()
	conn, one := t.conn, t.one
	t.mu.Unlock()
	if conn != nil && !one {
		conn.many.read(t)
	}
}
