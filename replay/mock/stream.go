package mock

import (
	"net/http"
	"time"
)

// buffers are what a stream reuses.
type buffers struct {
	out    []byte
	events []Event
}

// stream writes tokens as server-sent events, one write for all that wait.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, id ID, box *mailbox, rep *reply) {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	if control.Flush() != nil {
		h.driver.cancel(id)
		return
	}
	b := h.bufs.Get().(*buffers)
	defer h.bufs.Put(b)
	for {
		select {
		case <-box.note:
		case <-r.Context().Done():
			h.driver.cancel(id)
			return
		case <-h.driver.stopped:
			return
		}
		b.events = box.take(b.events[:0])
		if len(b.events) == 0 {
			continue
		}
		if !h.send(w, control, b, rep) {
			h.driver.cancel(id)
			return
		}
		if b.events[len(b.events)-1].Finish != Going {
			return
		}
	}
}

// send writes the tokens in b and notes how late they are; false when the
// client has gone away.
func (h *Handler) send(w http.ResponseWriter, control *http.ResponseController, b *buffers, rep *reply) bool {
	var sent int64
	if rep.stamp {
		sent = time.Now().UnixNano()
	}
	b.out = b.out[:0]
	for _, ev := range b.events {
		b.out = rep.event(b.out, ev, sent)
	}
	if _, err := w.Write(b.out); err != nil || control.Flush() != nil {
		return false
	}
	written := h.driver.now()
	for _, ev := range b.events {
		h.late.add(written - ev.At)
	}
	return true
}

// whole waits for the last token and answers at once.
func (h *Handler) whole(w http.ResponseWriter, r *http.Request, id ID, box *mailbox, rep *reply) {
	var events []Event
	for {
		select {
		case <-box.note:
		case <-r.Context().Done():
			h.driver.cancel(id)
			return
		case <-h.driver.stopped:
			refusal(errClosed).write(w)
			return
		}
		events = box.take(events[:0])
		if len(events) == 0 || events[len(events)-1].Finish == Going {
			continue
		}
		last := events[len(events)-1]
		writeJSON(w, http.StatusOK, rep.whole(last))
		h.late.add(h.driver.now() - last.At)
		return
	}
}
