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
	r, stalled := c.probeStream(ctx, 0)
	if r.Class != replay.OK && r.Class != replay.NoDone {
		return nil
	}
	if c.ignoreEOS && r.OutUsage.OK && r.OutUsage.V != streamTokens {
		notes = append(notes, fmt.Sprintf("the server takes ignore_eos and min_tokens and does not heed them: %d tokens came of %d asked for", r.OutUsage.V, streamTokens))
		c.ignoreEOS = c.cfg.IgnoreEOS == On
	}
	return append(notes, c.tellBunched(ctx, r, stalled, alone)...)
}

// probeStream sends the probe of the stream for the nth time, and returns with
// its answer by how much this process stalled meanwhile.
func (c *Client) probeStream(ctx context.Context, nth int64) (replay.Result, time.Duration) {
	stop := c.heartbeat()
	r := c.extra(ctx, probeKeys+nth, probeShort, streamTokens)
	return r, stop()
}

// The probe of the stream is sent bunchTries times at most; its prompts have the
// keys from probeKeys on, below those of warm-ups.
const (
	bunchTries = 5
	probeKeys  = 5
)

// tellBunched says whether something holds answers back, beginning with the
// answer to a first probe. It is believed when two probes show it and the
// client's own heartbeat does not explain them: a client that stalls reads in
// bunches too.
func (c *Client) tellBunched(ctx context.Context, r replay.Result, stalled time.Duration, alone int64) (notes []string) {
	seen, worst := 0, time.Duration(0)
	for try := int64(1); ; try++ {
		late := took(&r) - alone
		switch {
		case !bunched(&r, alone) && 2*stalled > heldBack && try < bunchTries: // it may hide what is held back, or what comes alone
		case !bunched(&r, alone):
			c.path.EventsAlone, c.path.ReadsAlone = int(r.NEvents), int(r.NReads)
			return nil
		case 2*stalled.Nanoseconds() > late:
			worst = max(worst, stalled)
		default:
			seen++
		}
		if seen == 2 {
			c.path.Bunched, c.path.EventsAlone, c.path.ReadsAlone = true, int(r.NEvents), int(r.NReads)
			return []string{fmt.Sprintf("an answer alone arrived in bunches, %d events in %d reads, the first after %.0f ms where one token takes %.0f ms: something between the model and the client (a proxy that buffers?) holds answers back, so TTFT is late and gaps are not the model's",
				r.NEvents, r.NReads, float64(took(&r))/1e6, float64(alone)/1e6)}
		}
		if try == bunchTries {
			break
		}
		r, stalled = c.probeStream(ctx, try)
		if r.Class != replay.OK && r.Class != replay.NoDone {
			return nil
		}
	}
	if worst == 0 {
		return nil
	}
	return []string{fmt.Sprintf("answers alone arrived in bunches, but this client itself stalled for up to %.0f ms meanwhile: whether something on the way holds answers back is not known; run it on a quieter machine", float64(worst)/1e6)}
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
