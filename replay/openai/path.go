package openai

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"reprise/replay"
)

// What the probe of the stream asks for, and how often a handshake is timed.
const (
	streamTokens = 24
	handshakes   = 5
)

// Path returns what preflight measured of the way to the server.
func (c *Client) Path() *replay.Path {
	p := c.path
	return &p
}

// measurePath times round trips, and sends a request alone whose answer has some
// tokens: it shows whether the server writes as long as it is asked to, and
// whether something in between holds answers back. one is the answer of one
// token on a warm connection.
func (c *Client) measurePath(ctx context.Context, one *replay.Result) (notes []string) {
	c.timeHandshakes(ctx)
	alone := took(one)
	if alone > 0 {
		c.path.OneTokenMS = float64(alone/1000) / 1000
	}
	if !c.streams {
		return nil
	}
	r := c.extra(ctx, 5, probeShort, streamTokens)
	if r.Class != replay.OK && r.Class != replay.NoDone {
		return nil
	}
	if c.ignoreEOS && r.OutUsage.OK && r.OutUsage.V != streamTokens {
		notes = append(notes, fmt.Sprintf("the server takes ignore_eos and min_tokens and does not heed them: %d tokens came of %d asked for", r.OutUsage.V, streamTokens))
		c.ignoreEOS = c.cfg.IgnoreEOS == On
	}
	if bunched(&r, alone) { // again: a client that stalled once has bunches too
		r = c.extra(ctx, 6, probeShort, streamTokens)
		c.path.Bunched = bunched(&r, alone)
	}
	if c.path.Bunched {
		notes = append(notes, fmt.Sprintf("an answer alone arrived in bunches, %d events in %d reads, the first after %.0f ms where one token takes %.0f ms: something between the model and the client (a proxy that buffers?) holds answers back, so TTFT is late and gaps are not the model's",
			r.NEvents, r.NReads, float64(took(&r))/1e6, float64(alone)/1e6))
	}
	return notes
}

// took is the time from sending to the first content, ns, 0 when not known.
func took(r *replay.Result) int64 {
	if !r.FirstContent.OK || !r.WriteEnd.OK {
		return 0
	}
	return r.FirstContent.V - r.WriteEnd.V
}

// heldBack is by how much an answer's first content must be later than that of
// an answer of one token, ns: less is within what a busy machine does.
const heldBack = 5e6

// bunched tells whether an answer was held back: its events came in a few reads,
// and what they took to be made had passed before the first.
func bunched(r *replay.Result, alone int64) bool {
	if r.NEvents < 8 || r.NReads > 3 || alone <= 0 {
		return false
	}
	spread := r.LastContent.V - r.FirstContent.V
	late := took(r) - alone
	return late > heldBack && late > 3*spread
}

// timeHandshakes takes the median of a few TCP handshakes. Through a proxy they
// would be the proxy's.
func (c *Client) timeHandshakes(ctx context.Context) {
	if c.cfg.Wire.Proxy != nil || c.cfg.Wire.Dial != nil {
		return
	}
	addr := c.target.post.Host
	if c.target.post.Port() == "" {
		addr = net.JoinHostPort(c.target.post.Hostname(), map[string]string{"http": "80", "https": "443"}[c.target.post.Scheme])
	}
	d := net.Dialer{Timeout: c.cfg.Connect}
	// By address, so that a name is looked up once and outside of the times.
	first, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return
	}
	to := first.RemoteAddr().String()
	first.Close()
	var times []time.Duration
	for range handshakes {
		start := time.Now()
		conn, err := d.DialContext(ctx, "tcp", to)
		if err != nil {
			return
		}
		times = append(times, time.Since(start))
		conn.Close()
	}
	slices.Sort(times)
	c.path.Handshakes, c.path.HandshakeMS = handshakes, float64(times[handshakes/2].Microseconds())/1000
}
