package openai

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"reprise/replay"
)

// Client sends requests to one endpoint. It is a replay.Sender; any number of
// goroutines may use it once Preflight is over.
type Client struct {
	cfg       Config
	target    target
	header    http.Header
	base      time.Time // zero of the connections' stamps
	transport *http.Transport
	buffers   sync.Pool // *[]byte

	// What preflight found.
	model     string
	template  int32 // tokens that the server adds to a prompt, -1 unknown
	ignoreEOS bool
	usage     bool
	server    string
	streams   bool
	serves    string // the model that answers name
}

// New checks the configuration; it opens no connection.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	to, err := resolve(cfg.URL, cfg.API)
	if err != nil {
		return nil, err
	}
	if replay.IDs(cfg.Prompter) && to.api != Completions {
		return nil, errors.New("the prompts are token ids, which only the completions API takes: name it (/v1/completions), or another tokenizer")
	}
	c := &Client{cfg: cfg, target: to, header: cfg.header(), base: time.Now(), model: cfg.Model,
		template: -1, ignoreEOS: cfg.IgnoreEOS != Off, usage: true, streams: true}
	c.transport = newTransport(cfg, c.base)
	c.buffers.New = func() any { b := make([]byte, 16<<10); return &b }
	return c, nil
}

// Close closes the idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Endpoint describes the endpoint for run.json.
func (c *Client) Endpoint() replay.Endpoint {
	return replay.Endpoint{URL: c.target.public(), API: c.target.api, Model: c.model, Server: c.server,
		Streaming: c.streams, IgnoreEOS: c.ignoreEOS, Template: c.template}
}

// Prepare renders the body of a job.
func (c *Client) Prepare(job replay.Job) (replay.Call, error) {
	r := &job.Request
	a := ask{model: c.model, n: max(r.N, 1), ignoreEOS: c.ignoreEOS, usage: c.usage, byNewName: c.cfg.MaxCompletionTokens, ids: replay.IDs(c.cfg.Prompter)}
	out := r.Output
	if !out.OK {
		out = r.Max
	}
	if out.OK {
		// Output counts all completions of a request; a server wants one at least.
		a.out = max((out.V+int32(a.n)-1)/int32(a.n), 1)
	}
	var tokens int32
	k := &call{client: c, result: replay.Result{Endpoint: c.cfg.Label, OutAsked: out}}
	k.body = appendBody(nil, c.target.api, a, func(dst []byte) []byte {
		dst, tokens = c.cfg.Prompter.AppendPrompt(dst, &job, c.template)
		return dst
	})
	if out.OK {
		k.result.OutAsked.V = a.out * int32(a.n)
	}
	k.result.InAsked = some(tokens + max(c.template, 0))
	if r.Input.OK {
		k.result.InAsked = r.Input
	}
	return k, nil
}
