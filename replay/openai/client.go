package openai

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"reprise/replay"
)

// Client sends requests to one endpoint. It is a replay.Sender; any number of
// goroutines may use it once Preflight is over.
type Client struct {
	cfg     Config
	target  target
	header  http.Header
	secrets secrets
	stamps  *stamps
	engine  engine
	room    int          // free in front of a body, for the raw engine's head
	resent  atomic.Int64 // requests sent a second time
	told    told         // headers that ids and times were taken from
	stated  stated

	// What preflight found.
	model     string
	template  int32 // tokens that the server adds to a prompt, -1 unknown
	ignoreEOS bool
	usage     bool
	server    string
	streams   bool
	drops     atomic.Bool // the server closes kept connections unsaid
	serves    string      // the model that answers name
	layout    layout      // of the template
	tools     cost
	schema    cost
	path      replay.Path
	heartbeat func() (stop func() time.Duration) // follows the stalls of this process

	sideOnce sync.Once
	side     *http.Client
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
		template: -1, ignoreEOS: cfg.IgnoreEOS != Off, usage: true, streams: true,
		heartbeat: func() func() time.Duration { return replay.NewHeartbeat().Stop }}
	if err := c.cfg.Wire.check(c.header); err != nil {
		return nil, err
	}
	c.secrets = secretsOf(c.cfg, to.post)
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
func (c *Client) Delays() Delays { return c.stamps.delays.Count() }

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
		Streaming: c.streams, IgnoreEOS: c.ignoreEOS, Template: c.template, Extra: c.cfg.Extra.String()}
}
