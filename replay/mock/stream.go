package mock

import (
	"net/http"
	"slices"
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/engine"
)

// buffers are what a stream through net/http reuses.
type buffers struct {
	out    []byte
	events []engine.Event
}

// stream writes tokens as server-sent events, one write for all that wait.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, a driver.Admission, box *driver.Mailbox, j *job) {
	for _, f := range j.opening(a.Rate) {
		w.Header().Set(f.name, f.value)
	}
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	b := h.bufs.Get().(*buffers)
	defer h.bufs.Put(b)
	for ok := control.Flush() == nil; ok; {
		select {
		case <-box.Note:
		case <-r.Context().Done():
			ok = false
			continue
		case <-h.driver.Stopped():
			h.rec.left(j.entry, h.driver.Now())
			return
		}
		b.events = box.Take(b.events[:0])
		if len(b.events) == 0 {
			continue
		}
		ok = h.send(w, control, b, j)
		if ok && b.events[len(b.events)-1].Finish != engine.Going {
			return
		}
	}
	h.leave(a.ID, j)
}

// leave drops a request whose client has gone away.
func (h *Handler) leave(id engine.ID, j *job) {
	h.driver.Cancel(id)
	h.rec.left(j.entry, h.driver.Now())
}

// send writes the tokens in b and notes how late they are; false when the
// client has gone away.
func (h *Handler) send(w http.ResponseWriter, control *http.ResponseController, b *buffers, j *job) bool {
	var sent int64
	if j.rep.stamp {
		sent = time.Now().UnixNano()
	}
	b.out = b.out[:0]
	for _, ev := range b.events {
		b.out = j.rep.event(b.out, ev, sent)
	}
	if _, err := w.Write(b.out); err != nil || control.Flush() != nil {
		return false
	}
	h.written(j, b.events)
	return true
}

// written notes tokens that the kernel has just taken.
func (h *Handler) written(j *job, events []engine.Event) {
	at := h.driver.Now()
	for _, ev := range events {
		h.late.Add(at - ev.At)
		h.rec.token(j.entry, ev, at)
	}
}

// whole waits for the last token and answers at once.
func (h *Handler) whole(w http.ResponseWriter, r *http.Request, a driver.Admission, box *driver.Mailbox, j *job) {
	var events []engine.Event
	for {
		select {
		case <-box.Note:
		case <-r.Context().Done():
			h.leave(a.ID, j)
			return
		case <-h.driver.Stopped():
			h.refuse(j, driver.Admission{Err: driver.ErrClosed}).write(w)
			return
		}
		events = box.Take(events[:0])
		if len(events) == 0 || events[len(events)-1].Finish == engine.Going {
			continue
		}
		last := events[len(events)-1]
		j.closing(a.Rate, last).write(w)
		h.written(j, []engine.Event{last})
		return
	}
}

// contactOf is what net/http tells of a request's connection.
func contactOf(r *http.Request) contact {
	c := contact{at: time.Now(), proto: r.Proto}
	for name := range r.Header {
		c.names = append(c.names, name)
	}
	slices.Sort(c.names)
	if k, ok := r.Context().Value(connKey{}).(*connCount); ok {
		c.conn, c.nth = k.number, int(k.requests.Add(1)-1)
	}
	return c
}
