package mock

import (
	"encoding/json"
	"net/http"

	"reprise/replay/mock/engine"
)

// wholeMessage is the message of a chat in one piece.
type wholeMessage struct {
	Role             string            `json:"role"`
	Content          *string           `json:"content"`
	Refusal          *string           `json:"refusal"`
	Annotations      []json.RawMessage `json:"annotations"`
	Audio            *string           `json:"audio"`
	FunctionCall     *string           `json:"function_call"`
	ToolCalls        []toolCall        `json:"tool_calls,omitempty"`
	Reasoning        *string           `json:"reasoning"`
	ReasoningContent *string           `json:"reasoning_content,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// wholeChoice is the choice of an answer in one piece: chat has a message, and
// completions a text and what they say of its prompt.
type wholeChoice struct {
	Index   int           `json:"index"`
	Message *wholeMessage `json:"message,omitempty"`
	Text    *string       `json:"text,omitempty"`
	choiceTail
	*choicePrompt
	RoutedExperts *string `json:"routed_experts"`
}

type choiceTail struct {
	Logprobs     *string `json:"logprobs"`
	FinishReason string  `json:"finish_reason"`
	StopReason   *string `json:"stop_reason"`
	TokenIDs     []int32 `json:"token_ids"`
}

type choicePrompt struct {
	PromptLogprobs *string `json:"prompt_logprobs"`
	PromptTokenIDs []int32 `json:"prompt_token_ids"`
}

// wholeAnswer is an answer in one piece, with the fields of vLLM 0.32.
type wholeAnswer struct {
	ID          string          `json:"id"`
	Object      string          `json:"object"`
	Created     int64           `json:"created"`
	Model       string          `json:"model"`
	Choices     []wholeChoice   `json:"choices"`
	ServiceTier *string         `json:"service_tier"`
	Fingerprint string          `json:"system_fingerprint"`
	Usage       json.RawMessage `json:"usage,omitempty"`
	*chatPrompt
	KVTransfer *string `json:"kv_transfer_params"`
	ECTransfer *string `json:"ec_transfer_params"`
	Metrics    *string `json:"metrics"`
}

type chatPrompt struct {
	PromptLogprobs *string `json:"prompt_logprobs"`
	PromptTokenIDs []int32 `json:"prompt_token_ids"`
	PromptText     *string `json:"prompt_text"`
}

// whole is the answer of a call that does not stream.
func (r *reply) whole(ev engine.Event) *wholeAnswer {
	var text []byte
	last := ev.N
	if ev.Finish == engine.Stop {
		last-- // the token that stops an answer has no text
	}
	for n := range last {
		text = append(text, word(r.key, n+1)...)
	}
	said := string(text)
	a := &wholeAnswer{
		ID: r.id, Object: "text_completion", Created: r.created, Model: r.model,
		Choices:     []wholeChoice{{choiceTail: choiceTail{FinishReason: ev.Finish.String()}}},
		Fingerprint: fingerprintOf, Usage: r.usage(nil, ev, usageWhole),
	}
	if r.chat {
		a.Object, a.chatPrompt = "chat.completion", &chatPrompt{}
		a.Choices[0].Message = &wholeMessage{Role: "assistant", Content: &said}
	} else {
		a.Choices[0].Text, a.Choices[0].choicePrompt = &said, &choicePrompt{}
	}
	return a
}

// wholeBody is the answer of a shaped call that does not stream.
func (s *script) wholeBody(ev engine.Event) []byte {
	s.plan(ev.N)
	w := s.rep.whole(ev)
	choice := &w.Choices[0]
	choice.FinishReason = s.reason(ev)
	if s.rep.chat {
		choice.Message = s.message(ev)
	} else {
		text := string(s.text(nil, 1, s.upTo(ev)))
		choice.Text = &text
	}
	if s.v.noUsage {
		w.Usage = nil
	}
	return jsonAnswer(http.StatusOK, w).body
}

// message is the whole answer of a chat.
func (s *script) message(ev engine.Event) *wholeMessage {
	m := &wholeMessage{Role: "assistant"}
	if s.think > 0 {
		thought := string(s.text(nil, 1, s.think))
		if s.reasoningField() == "reasoning" {
			m.Reasoning = &thought
		} else {
			m.ReasoningContent = &thought
		}
	}
	rest := string(s.text(nil, s.think+1, s.upTo(ev)))
	if !s.shape.Tools || ev.N <= s.think {
		m.Content = &rest
		return m
	}
	m.ToolCalls = []toolCall{{ID: s.callID(), Type: "function", Function: toolFunction{s.tool, `{"text": "` + rest + `"}`}}}
	return m
}
