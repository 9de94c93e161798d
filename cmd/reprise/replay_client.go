package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/replay"
	"reprise/replay/openai"
	"reprise/trace"
	"reprise/trace/token"
)

func (o *replayOptions) client(t *trace.Trace, run *replay.Run) (*openai.Client, *replay.Prompts, error) {
	name := t.Header.Tokenizer.Name
	if o.tokenizer != "" {
		name = o.tokenizer
	}
	if name == "" {
		name = "o200k_base"
		run.Notes = append(run.Notes, "the trace names no tokenizer: surrogate text is made with "+name)
	}
	text, err := o.text(name, t, run)
	if err != nil {
		return nil, nil, err
	}
	prompts, err := replay.NewPrompts(text, t, o.cache, o.salt)
	if err != nil {
		return nil, nil, usageError{err}
	}
	run.Notes = append(run.Notes, prompts.Notes()...)
	key, err := o.apiKey()
	if err != nil {
		return nil, nil, err
	}
	header, err := readHeaders(o.headers)
	if err != nil {
		return nil, nil, err
	}
	cfg := openai.Config{URL: o.url, API: o.api, Model: o.model, Key: key, Headers: header,
		Prompter: prompts, IgnoreEOS: o.ignoreEOS, Stamped: o.selfTest > 0, FirstToken: limit(o.first), Idle: limit(o.idle), Total: limit(o.total), Wire: o.wire.wire()}
	if err := o.endpoint.config(&cfg, t, text, o.tok, name); err != nil {
		return nil, nil, err
	}
	run.Notes = append(run.Notes, severalNote(t, cfg.Extra)...)
	if cfg.Extra != nil {
		run.Notes = append(run.Notes, "every request has these fields besides ours: "+cfg.Extra.String())
	}
	c, err := openai.New(cfg)
	if err != nil {
		return nil, nil, usageError{err}
	}
	return c, prompts, nil
}

// severalNote says how requests for several completions are sent.
func severalNote(t *trace.Trace, extra openai.Extra) []string {
	n := 0
	for i := range t.Requests {
		if t.Requests[i].N > 1 {
			n++
		}
	}
	if n == 0 || extra.Has("temperature") {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d requests want several completions: they are sent at temperature 1, since servers refuse them at 0", n, len(t.Requests))}
}

// text opens the source of prompts for a tokenizer: words, or token ids where
// its vocabulary does not hold the words.
func (o *replayOptions) text(name string, t *trace.Trace, run *replay.Run) (*token.Text, error) {
	tok, err := token.Open(name)
	if err != nil {
		if o.tokenizer == "" && !slices.Contains(token.Names(), name) {
			return nil, withHint(fmt.Errorf("the trace was counted by the tokenizer %s, which is a file", name), "give it with --tokenizer")
		}
		return nil, err
	}
	if sha := t.Header.Tokenizer.SHA256; sha != "" && sha != tok.SHA256() {
		run.Notes = append(run.Notes, fmt.Sprintf("the trace was counted by %s, prompts are made for %s: as many tokens of another vocabulary", t.Header.Tokenizer.Name, filepath.Base(name)))
	}
	o.tok = tok
	if o.endpoint.prompts == "ids" {
		return token.NewIDs(tok, 0)
	}
	text, err := token.NewText(tok, 0)
	if errors.Is(err, token.ErrWords) {
		return token.NewIDs(tok, 0)
	}
	return text, err
}

// limit is a timeout as the client takes it: negative for none.
func limit(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

func (o *replayOptions) apiKey() (string, error) {
	if o.keyFile != "" {
		data, err := os.ReadFile(o.keyFile)
		return strings.TrimSpace(string(data)), err
	}
	for _, name := range []string{"REPRISE_API_KEY", "OPENAI_API_KEY"} {
		if v := os.Getenv(name); v != "" {
			return v, nil
		}
	}
	return "", nil
}
