package openai

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"reprise/replay"
)

// The APIs that the client speaks.
const (
	Chat        = "chat"
	Completions = "completions"
)

// Whether requests ask the server to write on to the planned length.
const (
	Auto = "auto" // ask, unless the server refuses it in preflight
	On   = "on"
	Off  = "off"
)

// Template is what a chat template puts before a text and behind it, tokens.
type Template struct{ Front, Back int32 }

// Config says where and how requests are sent.
type Config struct {
	URL      string // base with or without /v1, or in full
	API      string // Chat or Completions; empty: as the URL says, else Chat
	Model    string // empty: the one that the server has
	Key      string // sent as bearer token; never printed
	Label    string // of the endpoint, in results
	Headers  http.Header
	Prompter replay.Prompter

	IgnoreEOS           string // Auto, On, Off; empty: Auto
	MaxCompletionTokens bool   // ask by max_completion_tokens instead of max_tokens

	Closing  Closing           // for servers that cannot ignore the end of an answer; zero: none
	Template *Template         // as the user knows it; nil: not known
	Inexact  bool              // send even where the server counts prompts otherwise than we do
	Extra    Extra             // the user's own fields of the body
	Adapters map[string]string // name at the endpoint by the trace's alias
	Tools    bool              // the trace has requests with tools
	Schema   bool              // the trace has requests with a JSON schema
	Stamped  bool              // give the stamps of a mock that has them (replay.Far)
	KeepText bool              // give the text of answers, for counting

	FirstToken time.Duration // from dispatch; 0: 5 min, negative: none
	Idle       time.Duration // without a byte, after the first token; 0: 2 min
	Total      time.Duration // from dispatch; 0: 30 min

	Connect    time.Duration // for TCP and for TLS, each; 0: 10 s
	Dials      int           // connections opened at one time; 0: 256
	IdleConns  time.Duration // a connection unused for so long is closed; 0: 4 s, below the 5 s of uvicorn
	TLS        *tls.Config   // nil: the system's roots
	Wire       Wire          // engine, stamps, use of connections
	MaxWarming time.Duration // for each preflight or warm-up request; 0: 2 min
}

func (c Config) withDefaults() (Config, error) {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.FirstToken, 5*time.Minute)
	def(&c.Idle, 2*time.Minute)
	def(&c.Total, 30*time.Minute)
	def(&c.Connect, 10*time.Second)
	def(&c.IdleConns, 4*time.Second)
	def(&c.MaxWarming, 2*time.Minute)
	if c.Dials <= 0 {
		c.Dials = 256
	}
	if c.IgnoreEOS == "" {
		c.IgnoreEOS = Auto
	}
	if c.IgnoreEOS != Auto && c.IgnoreEOS != On && c.IgnoreEOS != Off {
		return c, fmt.Errorf("ignore-eos is %q, want auto, on or off", c.IgnoreEOS)
	}
	if c.Prompter == nil {
		return c, errors.New("the client has no source of prompts")
	}
	if strings.ContainsAny(c.Key, "\r\n\x00") {
		return c, errors.New("the API key has a line break in it: take it out of the file or variable")
	}
	return c, nil
}

// header is what every request carries.
func (c Config) header() http.Header {
	h := http.Header{}
	for name, values := range c.Headers {
		h[http.CanonicalHeaderKey(name)] = values
	}
	set := func(name, value string) {
		if _, ok := h[name]; !ok {
			h[name] = []string{value}
		}
	}
	set("Content-Type", "application/json")
	set("Accept", "text/event-stream")
	set("User-Agent", "reprise")
	if c.Key != "" {
		set("Authorization", "Bearer "+c.Key)
	}
	return h
}
