package sanitize

import (
	"unicode/utf8"

	"reprise/ingest"
)

// Tokenizer is what is needed of one; *token.Tokenizer is. Goroutines share it.
type Tokenizer interface {
	Name() string
	SHA256() string
	Encode(dst []int32, text string) []int32
}

// Markers stand for the special tokens of a chat template. They are no ids of
// any vocabulary, so no text can make them.
const (
	markStart int32 = -1 - iota // begins a message
	markSep                     // between role and content
	markEnd                     // ends a message
	markTools                   // begins the definitions of tools
)

// prompt is a rendered prompt.
type prompt struct {
	tokens     []int32
	toolTokens int
	chars      int // of the contents, without roles and tools
}

// render appends the tokens of a record's prompt to buf. A message costs three
// tokens beside role and content, a name one more, and the answer's start
// three (OpenAI cookbook, "How to count tokens with tiktoken"). A completions
// prompt is its text alone.
func render(t Tokenizer, r *ingest.Record, buf []int32) prompt {
	p := prompt{tokens: buf[:0]}
	switch {
	case len(r.PromptTokens) > 0:
		p.tokens = append(p.tokens, r.PromptTokens...)
	case len(r.Messages) > 0:
		p.chat(t, r)
	default:
		p.tokens = t.Encode(p.tokens, r.Prompt)
		p.chars = utf8.RuneCountInString(r.Prompt)
	}
	return p
}

func (p *prompt) chat(t Tokenizer, r *ingest.Record) {
	if r.ToolText != "" {
		p.tokens = append(p.tokens, markTools)
		p.tokens = t.Encode(p.tokens, r.ToolText)
		p.toolTokens = len(p.tokens)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		p.tokens = t.Encode(append(p.tokens, markStart), m.Role)
		if m.Name != "" {
			p.tokens = t.Encode(append(p.tokens, markSep), m.Name)
		}
		p.tokens = t.Encode(append(p.tokens, markSep), m.Text)
		p.tokens = append(p.tokens, markEnd)
		p.chars += utf8.RuneCountInString(m.Text)
	}
	p.tokens = append(p.tokens, markStart, markStart, markSep) // start, "assistant", separator
}
