package driver

import (
	"sync"

	"reprise/replay/mock/engine"
)

// Mailbox buffers a stream's tokens between the engine and the goroutine that
// writes them, however slow that is. It holds at most the tokens of one answer.
type Mailbox struct {
	Answer chan Admission // gets the engine's
	mu     sync.Mutex
	events []engine.Event
	Note   chan struct{} // has one element when there may be tokens
}

// NewMailbox returns an empty mailbox.
func NewMailbox() *Mailbox {
	return &Mailbox{Answer: make(chan Admission, 1), Note: make(chan struct{}, 1)}
}

// Admitted is the engine's side: its answer.
func (m *Mailbox) Admitted(a Admission) { m.Answer <- a }

// Put is the engine's side: a token.
func (m *Mailbox) Put(ev engine.Event) {
	m.mu.Lock()
	m.events = append(m.events, ev)
	m.mu.Unlock()
	select {
	case m.Note <- struct{}{}:
	default:
	}
}

// Take moves the waiting tokens into dst.
func (m *Mailbox) Take(dst []engine.Event) []engine.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	dst = append(dst, m.events...)
	m.events = m.events[:0]
	return dst
}
