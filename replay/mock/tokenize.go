package mock

import (
	"encoding/json"
	"net/http"
)

// tokenize counts a prompt or a chat as a generating request would, in vLLM's
// form: {"model", "prompt"} or {"model", "messages", "tools"} gives count,
// max_model_len and tokens. Tokens of the chat template have the id 0, as no
// vocabulary is behind them.
func (h *Handler) tokenize(data []byte) *answer {
	var probe struct {
		Model    string          `json:"model"`
		Messages json.RawMessage `json:"messages"`
		Prompt   *string         `json:"prompt"`
	}
	if err := json.Unmarshal(data, &probe); err != nil {
		return decodeError(err).answer()
	}
	if probe.Model != "" && probe.Model != h.cfg.Model {
		return h.unserved(probe.Model).answer()
	}
	c := &call{}
	if chat := present(probe.Messages) != nil; chat {
		var no *apiError
		if c, no = decode(true, data); no != nil {
			return no.answer()
		}
	} else if probe.Prompt == nil {
		e := invalid("body.prompt", "missing", "Field required")
		e.Message = "2 validation errors:\n  {'type': 'missing', 'loc': 'body.prompt', 'msg': 'Field required'}\n  {'type': 'missing', 'loc': 'body.messages', 'msg': 'Field required'}"
		return e.answer()
	} else {
		c.text = *probe.Prompt
	}
	ids := append(make([]int32, 0, 16), h.prompt.render(c)...)
	for i, id := range ids {
		ids[i] = max(id, 0)
	}
	return jsonAnswer(http.StatusOK, struct {
		Count       int      `json:"count"`
		MaxModelLen int      `json:"max_model_len"`
		Tokens      []int32  `json:"tokens"`
		TokenStrs   []string `json:"token_strs"`
	}{len(ids), h.cfg.Law.MaxModelLen, ids, nil})
}
