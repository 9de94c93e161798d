package mock

import (
	"fmt"
	"net/http"
	"time"
)

// job is a call that is ready for the engine, the same for both servers.
type job struct {
	call    *call
	req     Request
	rep     *reply
	arrived time.Duration
	entry   *arrival // of the recorder; nil when nothing is recorded
}

// prepare decodes a body, counts the prompt and hashes its blocks; or it
// returns the answer that refuses the call.
func (h *Handler) prepare(q *query, chat bool, data []byte) (*job, *answer) {
	entry := h.rec.arrive(q, chat, len(data))
	c, fault := decode(chat, data)
	if fault == nil && c.model != h.cfg.Model {
		param := "model"
		fault = &apiError{Status: http.StatusNotFound, Message: fmt.Sprintf("The model `%s` does not exist.", c.model), Type: "NotFoundError", Param: &param}
	}
	if fault != nil {
		h.rec.refused(entry, fault.Status)
		return nil, fault.answer()
	}
	ids := h.prompt.render(c)
	blocks, key := HashBlocks(make([]uint64, 0, len(ids)/BlockTokens), ids)
	j := &job{call: c, arrived: q.arrived, entry: entry}
	j.req = Request{Prompt: int32(len(ids)), Blocks: blocks, MaxTokens: c.maxTokens, MinTokens: c.minTokens, IgnoreEOS: c.ignoreEOS, Draw: key}
	h.rec.decoded(entry, j)
	prefix := "cmpl"
	if chat {
		prefix = "chatcmpl"
	}
	id := fmt.Sprintf("%s-%016x%016x", prefix, mix(h.cfg.Seed), h.calls.Add(1))
	j.rep = newReply(c, id, time.Now().Unix(), j.req.Prompt, key)
	j.rep.stamp = h.cfg.StampEvents
	return j, nil
}

// refuse is the answer to a call that the engine did not take.
func (h *Handler) refuse(j *job, a admission) *answer {
	e := refusal(a.err)
	h.rec.refused(j.entry, e.Status)
	return e.answer(rateFields(a.rate)...)
}

// opening is the head of a stream.
func (j *job) opening(rate Rate) []field {
	return append([]field{
		{"Content-Type", "text/event-stream; charset=utf-8"},
		{"Cache-Control", "no-cache"},
		{"X-Request-Id", j.rep.id},
	}, rateFields(rate)...)
}

// closing is the whole answer of a call that does not stream.
func (j *job) closing(rate Rate, last Event) *answer {
	return jsonAnswer(http.StatusOK, j.rep.whole(last), append([]field{{"X-Request-Id", j.rep.id}}, rateFields(rate)...)...)
}

// tooLarge is the answer to a body over the limit.
func (h *Handler) tooLarge() *answer {
	e := &apiError{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the request body is over %d bytes", h.cfg.MaxBody), Type: "BadRequestError"}
	return e.answer()
}
