package mock

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/engine"
)

// job is a call that is ready for the engine, the same for both servers.
type job struct {
	call    *call
	req     engine.Request
	rep     *reply
	arrived time.Duration
	entry   *arrival  // of the recorder; nil when nothing is recorded
	at      time.Time // when the request's first bytes came, by the kernel where it stamps
}

// prepare decodes a body, counts the prompt and hashes its blocks; or it
// returns the answer that refuses the call.
func (h *Handler) prepare(q *query, chat bool, data []byte) (*job, *answer) {
	entry := h.rec.arrive(q, chat, len(data))
	c, fault := decode(chat, data)
	if fault == nil {
		fault = h.accept(c)
	}
	if fault != nil {
		h.rec.refused(entry, fault.Status)
		return nil, fault.answer()
	}
	ids, limit := h.prompt.render(c), int32(h.cfg.Law.MaxModelLen)
	blocks, key := engine.HashBlocks(make([]uint64, 0, len(ids)/engine.BlockTokens), ids)
	j := &job{call: c, arrived: q.arrived, entry: entry, at: q.contact.at}
	if j.at.IsZero() {
		j.at = time.Now()
	}
	c.maxTokens = min(c.maxTokens, max(limit-int32(len(ids)), 1)) // what is left of the context, as vLLM 0.32 does
	j.req = engine.Request{Prompt: int32(len(ids)), Blocks: blocks, MaxTokens: c.maxTokens, MinTokens: c.minTokens, IgnoreEOS: c.ignoreEOS, Draw: key}
	h.rec.decoded(entry, j)
	prefix := "cmpl"
	if chat {
		prefix = "chatcmpl"
	}
	id := fmt.Sprintf("%s-%016x%016x", prefix, engine.Mix(h.cfg.Seed), h.calls.Add(1))
	j.rep = newReply(c, id, time.Now().Unix(), j.req.Prompt, key)
	j.rep.stamp = h.cfg.StampEvents
	return j, nil
}

// accept checks a call against what is served; a call without a model takes the
// one there is.
func (h *Handler) accept(c *call) *apiError {
	if c.model == "" {
		c.model = h.cfg.Model
	}
	if c.model != h.cfg.Model {
		return h.unserved(c.model)
	}
	if limit := h.cfg.Law.MaxModelLen; int(c.maxTokens) > limit {
		return badRequest("max_tokens", "max_tokens=%d cannot be greater than max_model_len=%d. Please request fewer output tokens. (parameter=max_tokens, value=%d)",
			c.maxTokens, limit, c.maxTokens)
	}
	return nil
}

// unserved refuses another model than ours.
func (h *Handler) unserved(model string) *apiError {
	e := unknownModel(model)
	e.Message += " Valid aliases: " + h.cfg.Model + "."
	return e
}

// refuse is the answer to a call that the engine did not take.
func (h *Handler) refuse(j *job, a driver.Admission) *answer {
	e := refusal(a.Err)
	h.rec.refused(j.entry, e.Status)
	return e.answer(rateFields(a.Rate)...)
}

// opening is the head of a stream. With stamps it tells when the request came.
func (j *job) opening(rate engine.Rate) []field {
	out := []field{
		{"Content-Type", "text/event-stream; charset=utf-8"},
		{"X-Request-Id", j.rep.id},
	}
	if j.rep.stamp {
		out = append(out, field{"X-Mock-Recv-Ns", strconv.FormatInt(j.at.UnixNano(), 10)})
	}
	return append(out, rateFields(rate)...)
}

// closing is the whole answer of a call that does not stream.
func (j *job) closing(rate engine.Rate, last engine.Event) *answer {
	return jsonAnswer(http.StatusOK, j.rep.whole(last), append([]field{{"X-Request-Id", j.rep.id}}, rateFields(rate)...)...)
}

// tooLarge is the answer to a body over the limit.
func (h *Handler) tooLarge() *answer {
	e := &apiError{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the request body is over %d bytes", h.cfg.MaxBody), Type: "BadRequestError"}
	return e.answer()
}
