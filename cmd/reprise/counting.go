package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"reprise/sanitize"
	"reprise/trace"
	"reprise/trace/token"
	"reprise/trace/token/chat"
)

// noTokenizer is the tokenizer's and the template's name that says to use none.
const noTokenizer = "none"

// openCounting opens the tokenizer and the chat template; nil for no tokenizer.
func (o *ingestOptions) openCounting(s *stdio, name string) (sanitize.Tokenizer, error) {
	if name == noTokenizer {
		if o.template != "" && o.template != noTokenizer {
			return nil, usagef("--template needs a tokenizer, and --tokenizer is none")
		}
		if o.also != "" {
			return nil, usagef("--also-tokenizer needs a first one, and --tokenizer is none")
		}
		return nil, nil
	}
	t, err := token.Open(name)
	if err != nil {
		return nil, usageError{err}
	}
	tpl, err := openTemplate(o.template, name)
	if err != nil {
		return nil, usageError{err}
	}
	c := sanitize.NewCounting(t, tpl)
	c.Check()
	if err := o.openSecond(c, tpl); err != nil {
		return nil, err
	}
	if tpl != nil && o.template == "" {
		s.talk("note: prompts are rendered by the chat template in %s (--template none leaves it out)", name)
	}
	return c, nil
}

// openSecond opens the second tokenizer, with the template of its folder, else
// the first one's.
func (o *ingestOptions) openSecond(c *sanitize.Counting, first *chat.Template) error {
	if o.also == "" {
		return nil
	}
	t, err := token.Open(o.also)
	if err != nil {
		return usagef("--also-tokenizer: %w", err)
	}
	tpl, err := openTemplate("", o.also)
	if err != nil {
		return usagef("--also-tokenizer: %w", err)
	}
	if tpl == nil {
		tpl = first
	}
	c.Also(sanitize.NewCounting(t, tpl))
	return nil
}

// talkAlso says what the second tokenizer counts.
func (s *stdio) talkAlso(h trace.Header) {
	if h.Counting == nil || h.Counting.Also == nil {
		return
	}
	a := h.Counting.Also
	for _, side := range []struct {
		name string
		c    trace.Compared
	}{{"prompts", a.Input}, {"answers", a.Output}} {
		if side.c.Requests == 0 || side.c.Tokens == 0 {
			s.talk("%s counts no %s: the log has none with text", a.Tokenizer.Name, side.name)
			continue
		}
		s.talk("%s counts %d tokens in %d %s where %s counts %d: %.3f times as many (median of requests %.3f)", a.Tokenizer.Name, side.c.Also,
			side.c.Requests, side.name, h.Tokenizer.Name, side.c.Tokens, float64(side.c.Also)/float64(side.c.Tokens), median(side.c.Ratios))
	}
}

func median(ratios []trace.Ratio) float64 {
	for _, r := range ratios {
		if r.P == 0.5 {
			return r.Value
		}
	}
	return 0
}

// openTemplate opens the template of that name or path; without one, that of the
// tokenizer's folder where there is one.
func openTemplate(name, tokenizer string) (*chat.Template, error) {
	switch {
	case name == noTokenizer:
		return nil, nil
	case name == "":
		st, err := os.Stat(tokenizer)
		switch {
		case err != nil || slices.Contains(token.Names(), tokenizer):
			return nil, nil
		case !st.IsDir() && filepath.Base(tokenizer) == "tokenizer.json":
			tokenizer = filepath.Dir(tokenizer) // the template lies beside it
		case !st.IsDir():
			return nil, nil
		}
		t, err := chat.Open(tokenizer)
		if errors.Is(err, chat.ErrNone) {
			return nil, nil
		}
		return t, err
	case slices.Contains(chat.Names(), name):
		return chat.Named(name)
	}
	if _, err := os.Stat(name); err != nil {
		return chat.Named(name)
	}
	return chat.Open(name)
}

// talkCounting says how prompts were counted, and what is not in the trace.
func (s *stdio) talkCounting(rows *sanitize.Rows, tok sanitize.Tokenizer) error {
	if tok == nil {
		s.talk("note: counted nothing: lengths are those of the log, and there are no prefix blocks (--tokenizer none)")
	}
	if rows.Account.Kept > 0 && !rows.Timed() {
		s.talk("note: the log has no times: the trace has none either, in order of the input; a rate must be assumed (reprise fit labels it so)")
	}
	c, ok := tok.(*sanitize.Counting)
	if !ok || c.Chats() == 0 {
		return nil
	}
	s.talkTemplate(rows.Header.Template, c)
	check, err := c.Checked()
	if err != nil || check == nil || check.Texts == 0 {
		return err
	}
	if rows.Header.Counting == nil {
		rows.Header.Counting = new(trace.Counting)
	}
	rows.Header.Counting.Check = check
	if check.Differ > 0 {
		s.talk("warning: %s counts %d of %d sampled texts otherwise than this program: please report it", check.By, check.Differ, check.Texts)
		return nil
	}
	s.talk("checked %d texts of the log against %s: the same tokens", check.Texts, check.By)
	return nil
}

// talkTemplate says what the template adds, or that it is not counted.
func (s *stdio) talkTemplate(named trace.Named, c *sanitize.Counting) {
	if named.Name == "" {
		s.talk("note: no chat template: messages are framed as OpenAI's chat models do, 3 tokens and the role each; what the served model's template adds is not counted (--template)")
		return
	}
	if o, ok := c.Overhead(); ok && o.First < 0 {
		s.talk("warning: template %s leaves messages out: a prompt of one has fewer tokens than its text; is it the right one?", named.Name)
	} else if ok {
		s.talk("template %s adds %d tokens to a prompt of one message, and %d for each answer and message after it", named.Name, o.First, o.Turn)
	} else {
		s.talk("template %s: what it adds to a message could not be measured", named.Name)
	}
	if mark := c.Missing(); mark != "" {
		s.talk("warning: the template writes %s, which is no token of %s: it is counted as text; is it the tokenizer of that model?", mark, c.Name())
	}
	r := c.Refused()
	for _, class := range []struct {
		n   int64
		why string
	}{{r.Raised, "the template refuses them, as the server would have"}, {r.Failed, "the template cannot render what is in them"}, {r.Limits, "the template goes beyond its limits"}} {
		if class.n > 0 {
			s.talk("note: %s counted without the template: %s", prompts(class.n), class.why)
		}
	}
}

func prompts(n int64) string {
	if n == 1 {
		return "1 prompt was"
	}
	return fmt.Sprintf("%d prompts were", n)
}
