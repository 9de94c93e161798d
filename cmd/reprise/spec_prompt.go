package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"reprise/trace/token"
)

// prompt is what a request file holds: the text of its prompt, its tool
// definitions as JSON, and whether it opens with a system prompt of its own, of so
// many bytes.
type prompt struct {
	text, tools string
	opens       bool
	head        int
}

// alike tells whether a request that does not hold the system prompt holds
// another version of it: they begin with the same block of tokens, or most of
// it, or one half of the prompt is in the request.
func alike(sys, req []int32, system, request string) bool {
	same, half := commonTokens(sys, req), len(system)/2
	return same >= 16 || same > 0 && 2*same >= len(sys) ||
		half >= 16 && (strings.Contains(request, system[:half]) || strings.Contains(request, system[half:]))
}

// couldShare counts the tokens that a request would share if it began with the
// system prompt in the place of its own: the last may merge with what follows.
func couldShare(t *token.Tokenizer, sys []int32, system string, request *prompt) int {
	if !request.opens {
		return len(sys)
	}
	return commonTokens(sys, t.Encode(nil, system+request.text[request.head:]))
}

func commonTokens(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// readPrompt takes a chat or completion request in JSON apart, also one inside a
// body or request as batches and logs have it, and a bare list of messages.
// Anything else is text as it is.
func readPrompt(data []byte) (prompt, error) {
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 {
		return prompt{}, errors.New("the file is empty")
	}
	if trimmed[0] == '[' {
		trimmed = append(append([]byte(`{"messages":`), trimmed...), '}')
	}
	p, ok, err := requestPrompt(trimmed, 2)
	if err != nil || ok {
		return p, err
	}
	return prompt{text: string(data)}, nil
}

// requestPrompt looks for a request in a JSON object, and depth objects deep in
// its body or request; ok is false where there is none.
func requestPrompt(data []byte, depth int) (p prompt, ok bool, err error) {
	var r struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		System  json.RawMessage `json:"system"`
		Prompt  string          `json:"prompt"`
		Tools   json.RawMessage `json:"tools"`
		Body    json.RawMessage `json:"body"`
		Request json.RawMessage `json:"request"`
	}
	if json.Unmarshal(data, &r) != nil {
		return p, false, nil
	}
	if r.Messages == nil && r.Prompt == "" {
		for _, inner := range []json.RawMessage{r.Body, r.Request} {
			if len(inner) > 0 && depth > 0 {
				if p, ok, err := requestPrompt(inner, depth-1); ok || err != nil {
					return p, ok, err
				}
			}
		}
		return p, false, nil
	}
	var b strings.Builder
	b.WriteString(contentText(r.System))
	for _, m := range r.Messages {
		b.WriteString(contentText(m.Content))
	}
	b.WriteString(r.Prompt)
	if b.Len() == 0 {
		return p, false, errors.New("the request holds no text")
	}
	p.text = b.String()
	if p.head = len(contentText(r.System)); p.head == 0 && len(r.Messages) > 0 {
		p.head = len(contentText(r.Messages[0].Content))
	}
	p.opens = contentText(r.System) != "" || len(r.Messages) > 0 && (r.Messages[0].Role == "system" || r.Messages[0].Role == "developer")
	var tools bytes.Buffer
	if len(r.Tools) > 0 && string(r.Tools) != "null" && json.Compact(&tools, r.Tools) == nil {
		p.tools = tools.String()
	}
	return p, true, nil
}

// contentText is a content as text: a string, or parts with a text each.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		text += p.Text
	}
	return text
}
