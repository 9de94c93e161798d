package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// promptText is the text of a prompt: of a chat or completion request in JSON
// its contents, one after the other, else the file as it is.
func promptText(data []byte) (string, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return "", errors.New("the file is empty")
	}
	if bytes.TrimSpace(data)[0] != '{' {
		return string(data), nil
	}
	var r struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		System json.RawMessage `json:"system"`
		Prompt string          `json:"prompt"`
	}
	if err := json.Unmarshal(data, &r); err != nil || r.Messages == nil && r.Prompt == "" {
		return string(data), nil // a text that begins with a brace
	}
	var b strings.Builder
	b.WriteString(contentText(r.System))
	for _, m := range r.Messages {
		b.WriteString(contentText(m.Content))
	}
	b.WriteString(r.Prompt)
	if b.Len() == 0 {
		return "", errors.New("the request holds no text")
	}
	return b.String(), nil
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
