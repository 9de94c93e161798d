package mock

import (
	"sync"

	"reprise/replay/mock/engine"
)

// mailbox buffers a stream's tokens between the engine and the goroutine that
// writes them, however slow that is. It holds at most the tokens of one answer.
type mailbox struct {
	answer chan admission // gets the engine's
	mu     sync.Mutex
	events []engine.Event
	note   chan struct{} // has one element when there may be tokens
}

func newMailbox() *mailbox {
	return &mailbox{answer: make(chan admission, 1), note: make(chan struct{}, 1)}
}

func (m *mailbox) admitted(a admission) { m.answer <- a }

func (m *mailbox) put(ev engine.Event) {
	m.mu.Lock()
	m.events = append(m.events, ev)
	m.mu.Unlock()
	select {
	case m.note <- struct{}{}:
	default:
	}
}

// take moves the waiting tokens into dst.
func (m *mailbox) take(dst []engine.Event) []engine.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	dst = append(dst, m.events...)
	m.events = m.events[:0]
	return dst
}
