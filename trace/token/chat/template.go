package chat

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"reprise/trace/token"
	"reprise/trace/token/chat/jinja"
)

// Template renders conversations. Any number of goroutines may share it.
type Template struct {
	name, sha256 string
	plain        *jinja.Template
	withTools    *jinja.Template // for conversations with tools; nil: the same
	parts        bool            // it goes through the parts of a message
	vars         map[string]string
	specials     []token.Special
}

// Name returns the name of the built-in template, or of the file without its folder.
func (t *Template) Name() string { return t.name }

// SHA256 returns the SHA-256 of the template's text, in lower-case hex; with a
// second template for tools, of both texts in a row.
func (t *Template) SHA256() string { return t.sha256 }

// Specials returns the tokens that tokenizer_config.json lists as added, by id.
func (t *Template) Specials() []token.Special { return t.specials }

// Conversation is what is rendered.
type Conversation struct {
	Messages []*jinja.Dict
	Tools    *jinja.List    // nil: none
	Now      time.Time      // what strftime_now tells
	Options  map[string]any // further variables (chat_template_kwargs)
	// Continue leaves the last message open, instead of a generation prompt.
	Continue bool
}

// Errors of a conversation.
var (
	ErrEmpty    = errors.New("the conversation is empty")
	ErrContinue = errors.New("the last message cannot be continued with this template")
)

// Render returns the prompt of a conversation, with the generation prompt where
// prompt is true. A *jinja.Error says that the template refuses the
// conversation, or cannot render it.
func (t *Template) Render(ctx context.Context, c Conversation, prompt bool) (string, error) {
	if len(c.Messages) == 0 {
		return "", ErrEmpty
	}
	messages := t.normalize(c.Messages)
	last := ""
	if c.Continue {
		prompt = false
		var ok bool
		if last, ok = openLast(messages); !ok {
			return "", ErrContinue
		}
	}
	vars := jinja.Vars{"messages": messages, "tools": nil, "documents": nil, "add_generation_prompt": prompt}
	for name, v := range t.vars {
		vars[name] = v
	}
	for name, v := range c.Options {
		vars[name] = v
	}
	in := t.plain
	if c.Tools != nil {
		vars["tools"] = c.Tools
		if t.withTools != nil {
			in = t.withTools
		}
	}
	text, err := in.Render(ctx, vars, c.Now, limits(c))
	if err != nil || !c.Continue {
		return text, err
	}
	return cutAt(text, last)
}

// limits grow with the conversation, so that the longest is rendered and a
// template that runs wild still ends soon.
func limits(c Conversation) jinja.Limits {
	size := jinja.Size(c.Tools)
	for _, m := range c.Messages {
		size += jinja.Size(m)
	}
	return jinja.Limits{Steps: 2_000_000 + size, Bytes: 16<<20 + 32*size}
}

// continueMark ends the last message until it is rendered; it is that of
// transformers, whose own handling of spaces it brings about.
const continueMark = "CONTINUE_FINAL_MESSAGE_TAG "

// openLast marks the end of the last message's text and returns that text.
func openLast(messages *jinja.List) (string, bool) {
	i := len(messages.Items) - 1
	own := &jinja.Dict{}
	messages.Items[i].(*jinja.Dict).Each(func(k, v any) { own.Set(k, v) })
	messages.Items[i] = own
	switch content, _ := own.Get("content"); x := content.(type) {
	case string:
		own.Set("content", x+continueMark)
		return x, true
	case *jinja.List:
		parts := &jinja.List{Items: append([]any(nil), x.Items...)}
		own.Set("content", parts)
		for j := len(parts.Items) - 1; j >= 0; j-- {
			p, ok := parts.Items[j].(*jinja.Dict)
			if !ok {
				continue
			}
			if text, ok := p.Get("text"); ok {
				s, ok := text.(string)
				marked := &jinja.Dict{}
				p.Each(func(k, v any) { marked.Set(k, v) })
				marked.Set("text", s+continueMark)
				parts.Items[j] = marked
				return s, ok
			}
		}
	}
	return "", false
}

// cutAt ends the text where the last message does.
func cutAt(text, last string) (string, error) {
	mark := strings.TrimSpace(continueMark)
	at := strings.LastIndex(text, mark)
	if at < 0 || !strings.Contains(text, strings.TrimSpace(last)) {
		return "", ErrContinue
	}
	if strings.HasPrefix(text[at:], continueMark) {
		return text[:at], nil
	}
	return strings.TrimRightFunc(text[:at], unicode.IsSpace), nil
}
