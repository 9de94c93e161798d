package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reprise/replay"
	"reprise/replay/openai"
	"reprise/replay/scrape"
	"reprise/trace"
	"reprise/trace/token"
	"reprise/trace/token/chat"
)

// endpointFlags say how an endpoint is reached and what of the trace it is sent.
type endpointFlags struct {
	ca, cert, key string
	proxy         string
	metrics       string
	template      string
	prompts       string
	adapters      []string
	extra         []string
	inexact       bool
	noClosing     bool
	warmups       int

	points bool // the run has several load points
}

func (o *endpointFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.ca, "ca", "", "file of certificates (PEM) to trust besides the system's")
	f.StringVar(&o.cert, "client-cert", "", "file of our own certificate (PEM)")
	f.StringVar(&o.key, "client-key", "", "file of its key (PEM)")
	f.StringVar(&o.proxy, "proxy", "", "URL of the proxy to go through (by the net engine), or env:VARIABLE that holds it")
	f.StringVar(&o.metrics, "metrics-url", "", "Prometheus metrics of the server, or none (default: /metrics of the endpoint, if it answers)")
	f.StringVar(&o.template, "chat-template", "", "chat template of the model, a name or a file: its tokens, where the server does not tell them (default: the one beside the tokenizer, else the trace's)")
	f.StringVar(&o.prompts, "prompts", "text", "what prompts are: text, or ids (token ids, for the completions API)")
	f.StringArrayVar(&o.adapters, "adapter", nil, "ALIAS=NAME: the endpoint's name of an adapter of the trace; required for each")
	f.StringArrayVar(&o.extra, "extra", nil, "NAME=VALUE, a JSON object, or file:PATH of one: fields to add to the body of every request, such as top_p=0.9; run.json holds them")
	f.BoolVar(&o.inexact, "inexact", false, "send even if the server counts prompts more than 1 % otherwise than we do")
	f.BoolVar(&o.noClosing, "no-closing", false, "no sentence that asks servers without ignore_eos to write on")
	f.IntVar(&o.warmups, "warmup-requests", 0, "requests of other prompts to send before the clock starts; in no number")
}

// config fills in what the flags say of the client. tokenizer is its name or file.
func (o *endpointFlags) config(cfg *openai.Config, t *trace.Trace, text *token.Text, tok *token.Tokenizer, tokenizer string) error {
	var err error
	if cfg.TLS, err = o.tls(); err != nil {
		return err
	}
	if o.proxy != "" {
		u, err := o.proxyURL()
		if err != nil {
			return err
		}
		cfg.Wire.Proxy, cfg.Wire.Engine = http.ProxyURL(u), openai.EngineNet
	}
	if o.warmups < 0 {
		return usagef("--warmup-requests is not negative")
	}
	if cfg.Adapters, err = o.adapterNames(t); err != nil {
		return err
	}
	if cfg.Extra, err = o.extraFields(); err != nil {
		return err
	}
	cfg.Inexact, cfg.KeepText = o.inexact, true
	for i := range t.Requests {
		r := &t.Requests[i]
		cfg.Tools = cfg.Tools || r.Tools.V || r.ToolTok.Or(0) > 0
		cfg.Schema = cfg.Schema || r.Schema.V || r.SchemaT.Or(0) > 0
	}
	if !o.noClosing && !text.IDs() {
		cfg.Closing = closing(tok, text)
	}
	cfg.Template, err = o.layout(t, text, tok, tokenizer)
	return err
}

// extraFields reads --extra.
func (o *endpointFlags) extraFields() (openai.Extra, error) {
	given := slices.Clone(o.extra)
	for i, text := range given {
		path, ok := strings.CutPrefix(text, "file:")
		if !ok {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("--extra: %w", err)
		}
		if given[i] = string(data); !strings.HasPrefix(strings.TrimSpace(given[i]), "{") {
			return nil, usagef("--extra: %s holds no JSON object", path)
		}
	}
	fields, err := openai.ParseExtra(given)
	if err != nil {
		return nil, usagef("--extra: %v", err)
	}
	return fields, nil
}

// proxyURL reads --proxy. A user and password stand in the variable alone.
func (o *endpointFlags) proxyURL() (*url.URL, error) {
	text, variable := o.proxy, ""
	if name, ok := strings.CutPrefix(o.proxy, "env:"); ok {
		variable = name
		if text = os.Getenv(name); text == "" {
			return nil, usagef("--proxy: the variable %s of the environment is not set", name)
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return nil, usagef("--proxy is no URL: write it as http://host:port")
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" && u.Scheme != "socks5h":
		return nil, usagef("--proxy is of the scheme %q, want http, https or socks5", u.Scheme)
	case u.User != nil && variable == "":
		return nil, usagef("--proxy has a user or password in it: give it as env:VARIABLE")
	}
	return u, nil
}

func (o *endpointFlags) tls() (*tls.Config, error) {
	if o.ca == "" && o.cert == "" && o.key == "" {
		return nil, nil
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.ca != "" {
		pem, err := os.ReadFile(o.ca)
		if err != nil {
			return nil, err
		}
		if out.RootCAs, err = x509.SystemCertPool(); err != nil {
			out.RootCAs = x509.NewCertPool()
		}
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", o.ca)
		}
	}
	if (o.cert == "") != (o.key == "") {
		return nil, usagef("--client-cert and --client-key go together")
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s are no certificate and its key in PEM", o.cert, o.key)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}

// adapterNames reads --adapter. An adapter of the trace without a name at the
// endpoint is refused: its requests would be of another model.
func (o *endpointFlags) adapterNames(t *trace.Trace) (map[string]string, error) {
	names := map[string]string{}
	for _, pair := range o.adapters {
		alias, name, ok := strings.Cut(pair, "=")
		if !ok || alias == "" || name == "" {
			return nil, usagef("--adapter is ALIAS=NAME, not %q", pair)
		}
		if names[alias] != "" {
			return nil, usagef("--adapter names %s twice", alias)
		}
		names[alias] = name
	}
	missing := map[string]string{} // with the row of the first request
	for i := range t.Requests {
		a := t.Requests[i].Adapter
		if _, seen := missing[a]; a != "" && names[a] == "" && !seen {
			missing[a] = fmt.Sprintf("%s (row %d)", a, t.Requests[i].ID)
		}
	}
	if len(missing) > 0 {
		list := slices.Sorted(maps.Values(missing))
		return nil, withHint(usagef("the trace has requests of adapters without a name at the endpoint: %s", strings.Join(list, ", ")),
			"give each with --adapter %s=NAME", slices.Min(slices.Collect(maps.Keys(missing))))
	}
	return names, nil
}

// known refuses names of adapters that no trace has of those that are sent.
func (o *endpointFlags) known(sent ...*trace.Trace) error {
	for _, pair := range o.adapters {
		alias, _, ok := strings.Cut(pair, "=")
		if !ok || alias == "" {
			continue // adapterNames says that it is no name
		}
		has := func(t *trace.Trace) bool {
			return slices.ContainsFunc(t.Requests, func(r trace.Request) bool { return r.Adapter == alias })
		}
		if !slices.ContainsFunc(sent, has) {
			return usagef("--adapter %s: no request of the trace has this adapter", pair)
		}
	}
	return nil
}

// closingText asks a server to write on that cannot be told to. A task with many
// parts does it: of 8 answers of 120 tokens SmolLM2-135M wrote 100 %, of a plea for
// a long text that never ends 82 %, of the bare words 73 %. A small model stops
// short at times all the same, so what was attained is always told.
const closingText = ". Explain each of these words in turn, with a long paragraph and examples for each, and leave none out."

// closing counts the sentence behind words; none where its tokens depend on
// what stands before it.
func closing(tok *token.Tokenizer, text *token.Text) openai.Closing {
	n := -1
	for block := range int64(8) {
		words := string(text.AppendBlock(nil, block, 4))
		k := tok.Count(words+closingText) - tok.Count(words)
		if n >= 0 && k != n {
			return openai.Closing{}
		}
		n = k
	}
	return openai.Closing{Text: closingText, Tokens: int32(n)}
}

// layout is where the tokens of a chat template stand that we know: the one of
// --chat-template, the one beside the tokenizer's file, or that of the trace where
// it is one of ours.
func (o *endpointFlags) layout(t *trace.Trace, text *token.Text, tok *token.Tokenizer, tokenizer string) (*openai.Template, error) {
	if text.IDs() {
		return nil, nil
	}
	tmpl, err := openTemplate(o.template, tokenizer)
	if o.template == "" && tmpl == nil && slices.Contains(chat.Names(), t.Header.Template.Name) {
		tmpl, err = chat.Named(t.Header.Template.Name)
	}
	if err != nil && o.template == "" {
		return nil, nil // not asked for
	}
	if err != nil || tmpl == nil {
		return nil, err
	}
	encoder := token.NewPrompts(tok, tmpl.Specials(), nil)
	render := func(block int64) ([]int32, error) {
		words := string(text.AppendBlock(nil, block, 8))
		var c chat.Conversation
		c.Messages = append(c.Messages, chat.Text("user", words))
		out, err := tmpl.Render(context.Background(), c, true)
		return encoder.Encode(nil, out), err
	}
	a, err := render(1)
	if err != nil {
		return nil, errors.New("the chat template does not render a plain question")
	}
	b, err := render(2)
	if err != nil {
		return nil, errors.New("the chat template does not render a plain question")
	}
	var l openai.Template
	for int(l.Front) < min(len(a), len(b)) && a[l.Front] == b[l.Front] {
		l.Front++
	}
	for int(l.Back) < min(len(a), len(b)) && a[len(a)-1-int(l.Back)] == b[len(b)-1-int(l.Back)] {
		l.Back++
	}
	if len(a) != len(b) || int(l.Front+l.Back)+8 != len(a) {
		return nil, nil // its marks are no tokens of this vocabulary
	}
	return &l, nil
}

// watch finds the server's metrics: nil where there are none to follow.
func (o *endpointFlags) watch(ctx context.Context, s *stdio, client *openai.Client) (replay.ServerWatch, error) {
	if o.metrics == "none" {
		return nil, nil
	}
	side, header := client.Side()
	x := &scrape.Scraper{URL: o.metrics, Client: side, Points: o.points}
	if o.metrics == "" || sameHost(o.metrics, client.Endpoint().URL) {
		x.Header = header // the key goes to the endpoint alone
	}
	if o.metrics == "" {
		x.URL = client.Beside("/metrics")
	}
	engine, err := x.Before(ctx)
	switch {
	case err != nil && o.metrics != "":
		return nil, withHint(fmt.Errorf("--metrics-url: %w", err), "name the URL of vLLM's, SGLang's, TGI's or llama.cpp's metrics, or none")
	case err != nil:
		s.talk("note: the endpoint shows no metrics of its own: server times and cache hits are not known (--metrics-url)")
		return nil, nil
	}
	s.talk("following the server's own metrics (%s)", engine)
	return x, nil
}

func sameHost(a, b string) bool {
	x, err1 := url.Parse(a)
	y, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

// readHeaders reads --header: NAME=env:VARIABLE or NAME=file:PATH. Without a
// word before a colon it is a variable.
func readHeaders(pairs []string) (http.Header, error) {
	h := http.Header{}
	for _, pair := range pairs {
		name, from, ok := strings.Cut(pair, "=")
		if !ok || name == "" || from == "" {
			return nil, usagef("--header is NAME=env:VARIABLE or NAME=file:PATH: values never stand on the command line")
		}
		if path, ok := strings.CutPrefix(from, "file:"); ok {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("--header %s=file:PATH: %w", name, err)
			}
			h.Set(name, strings.TrimSpace(string(data)))
			continue
		}
		variable, named := strings.CutPrefix(from, "env:")
		value, set := os.LookupEnv(variable)
		switch {
		case !set && !named: // it may be the value itself, so it is not shown
			return nil, usagef("--header %s: a value may not stand here: give %s=env:VARIABLE or %s=file:PATH", name, name, name)
		case !set:
			return nil, withHint(usagef("--header %s: that variable of the environment is not set", name), "set it, or give NAME=env:VARIABLE or NAME=file:PATH")
		}
		h.Set(name, value)
	}
	return h, nil
}

// args is what the flags say, for run.json, without secrets.
func (o *endpointFlags) args() []string {
	var out []string
	add := func(name, value string, set bool) {
		if set {
			out = append(out, "--"+name, value)
		}
	}
	add("prompts", o.prompts, o.prompts != "text")
	add("chat-template", lastOf(o.template), o.template != "")
	add("proxy", "set", o.proxy != "")
	add("warmup-requests", fmt.Sprint(o.warmups), o.warmups > 0)
	for _, a := range o.adapters {
		add("adapter", a, true)
	}
	if o.inexact {
		out = append(out, "--inexact")
	}
	if o.noClosing {
		out = append(out, "--no-closing")
	}
	return out
}

// warmUp sends requests of prompts that no job has.
func (o *endpointFlags) warmUp(ctx context.Context, s *stdio, client *openai.Client, run *replay.Run) error {
	if o.warmups == 0 {
		return nil
	}
	s.talk("sending %d warm-up requests of other prompts", o.warmups)
	run.WarmupSent = o.warmups
	return client.WarmUp(ctx, o.warmups)
}
