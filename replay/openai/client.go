package openai

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"reprise/replay"
)

// Client sends requests to one endpoint. It is a replay.Sender; any number of
// goroutines may use it once Preflight is over.
type Client struct {
	cfg    Config
	target target
	header http.Header
	stamps *stamps
	engine engine
	room   int          // free in front of a body, for the raw engine's head
	resent atomic.Int64 // requests sent a second time

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
	c := &Client{cfg: cfg, target: to, header: cfg.header(), stamps: newStamps(), model: cfg.Model,
		template: -1, ignoreEOS: cfg.IgnoreEOS != Off, usage: true, streams: true}
	if err := c.cfg.Wire.check(c.header); err != nil {
		return nil, err
	}
	if err := c.stamps.ask(c.cfg.Wire.Stamps); err != nil {
		return nil, err
	}
	if c.cfg.Wire.Engine == EngineNet {
		c.engine = newNetEngine(c)
		return c, nil
	}
	raw := newRawEngine(c)
	c.engine, c.room = raw, raw.room()
	return c, nil
}

// Close closes the idle connections.
func (c *Client) Close() {
	c.engine.close()
	c.stamps.release()
}

// Stamps says what stamped the reads so far, for run.json: "kernel", "user", or
// "kernel and user" where the kernel left some unstamped.
func (c *Client) Stamps() string { return c.stamps.used() }

// Delays returns how long what was read lay in the kernel before, over all reads so
// far that the kernel stamped; that of a second is the difference of two.
func (c *Client) Delays() Delays { return c.stamps.delays.snapshot() }

// Resent returns how many requests were sent a second time (Wire.Resend).
func (c *Client) Resent() int64 { return c.resent.Load() }

// shift is what leads from the clock of the connections to a run's, ns.
func (c *Client) shift(f *replay.Flight) int64 { return int64(c.stamps.base.Sub(f.At(0))) }

// host is the Host field of requests.
func (c *Client) host() string {
	if h := c.header.Get("Host"); h != "" {
		return h
	}
	host := c.target.post.Host
	if zone := strings.IndexByte(host, '%'); zone >= 0 && host[0] == '[' {
		host = host[:zone] + host[strings.LastIndexByte(host, ']'):]
	}
	return host
}

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
	k.data = appendBody(make([]byte, c.room, c.room+guess(&job)), c.target.api, a, func(dst []byte) []byte {
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
	k.answerRoom = int(min(max(out.V, 0), maxRoom))
	return k, nil
}

// maxRoom bounds the gaps that a request makes room for ahead.
const maxRoom = 4096

// guess is about what a body takes, so that it need not be moved as it grows.
func guess(job *replay.Job) int { return 512 + 6*int(min(max(job.Request.Input.Or(0), 0), 1<<20)) }
