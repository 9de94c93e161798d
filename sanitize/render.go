package sanitize

import (
	"context"
	"time"
	"unicode/utf8"

	"reprise/ingest"
	"reprise/trace/token/chat"
	"reprise/trace/token/chat/jinja"
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

// answers is the role that the answer's start is written for, as a message of
// that role would have it: package ingest gives answers no other.
const answers = "assistant"

// prompt is a rendered prompt.
type prompt struct {
	tokens     []int32
	toolTokens int
	chars      int  // of the contents, without roles and tools
	refused    bool // by the template: the frame of messages is not the server's
}

// render appends the tokens of a record's prompt to buf. With a chat template
// they are those of the rendered prompt, the answer's start included. Without
// one a message costs three tokens beside role and content, a name one more, and
// the answer's start two beside its role, which is one token in the vocabularies
// of OpenAI's chat models (OpenAI cookbook, "How to count tokens with tiktoken").
// A conversation's prompt so begins that of its next turn, which has the answer
// where the other ends. A completions prompt is its text alone.
func render(t Tokenizer, r *ingest.Record, buf []int32) prompt {
	p := prompt{tokens: buf[:0]}
	c, _ := t.(*Counting)
	switch {
	case len(r.PromptTokens) > 0:
		p.tokens = append(p.tokens, r.PromptTokens...)
	case len(r.Messages) > 0 && c != nil:
		c.chat()
		if c.template != nil {
			err := p.templated(c, r)
			if err == nil {
				break
			}
			c.refuse(err)
			p = prompt{tokens: buf[:0], refused: true}
		}
		p.chat(t, r)
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
	p.tokens = t.Encode(append(p.tokens, markStart), answers)
	p.tokens = append(p.tokens, markSep)
}

// templated renders the conversation by the template and encodes it.
func (p *prompt) templated(c *Counting, r *ingest.Record) error {
	conv, err := conversation(r)
	if err != nil {
		return err
	}
	text, err := c.template.Render(background(), conv, true)
	if err != nil {
		return err
	}
	for i := range r.Messages {
		p.chars += utf8.RuneCountInString(r.Messages[i].Text)
		if c.check != nil {
			c.check.offer(r.Messages[i].Text)
		}
	}
	if conv.Tools != nil {
		conv.Tools = nil
		if without, err := c.template.Render(background(), conv, true); err == nil {
			p.tokens = c.prompts.Encode(p.tokens, without)
			p.toolTokens = -len(p.tokens)
			p.tokens = p.tokens[:0]
		}
	}
	p.tokens = c.prompts.Encode(p.tokens, text)
	if p.toolTokens < 0 {
		p.toolTokens = max(p.toolTokens+len(p.tokens), 0)
	}
	return nil
}

// background is the context of renderings, which their limits end soon enough.
func background() context.Context { return context.Background() }

// conversation is a record's prompt as templates take it. Templates that print
// the date print that of the request; 1970 where the log has none.
func conversation(r *ingest.Record) (chat.Conversation, error) {
	conv := chat.Conversation{Now: time.Unix(0, 0).UTC(), Messages: make([]*jinja.Dict, len(r.Messages))}
	if r.Arrival.OK && !r.Relative {
		conv.Now = time.UnixMicro(r.Arrival.V).UTC()
	}
	var err error
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Shape != "" {
			if conv.Messages[i], err = chat.Message(m.Shape); err != nil {
				return conv, err
			}
			continue
		}
		conv.Messages[i] = chat.Text(m.Role, m.Text)
		if m.Name != "" {
			conv.Messages[i].Set("name", m.Name)
		}
	}
	if r.ToolText != "" {
		conv.Tools, err = chat.Tools(r.ToolText)
	}
	return conv, err
}
