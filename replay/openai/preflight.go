package openai

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"reprise/replay"
)

// Sizes of the prompts that calibrate the template: so long that a tokenizer
// which is 1 % off shows, or shorter where a context does not hold that.
const (
	probeShort  = 32
	probeMiddle = 96
	probeLong   = 288
)

// Preflight asks the endpoint, before the clock starts, for one token twice:
// it settles the model, what the server refuses, and how many tokens its
// template adds to a prompt. Its error is one line on what is wrong; the notes
// say what could not be had. These requests are in no result.
func (c *Client) Preflight(ctx context.Context) (notes []string, err error) {
	notes, err = c.preflight(ctx)
	if c.drops.Load() && !c.cfg.Wire.NewConns {
		notes = append(notes, "the server closes connections that it does not say it will close: a request that meets one as it is closed is classed truncated, unless it may be sent again (--resend) or each has a connection of its own (--new-conns)")
	}
	return notes, err
}

func (c *Client) preflight(ctx context.Context) (notes []string, err error) {
	if c.model == "" {
		if c.model, err = c.onlyModel(ctx); err != nil {
			return nil, err
		}
	}
	first, notes, err := c.settle(ctx)
	if err != nil {
		return notes, err
	}
	if c.serves != "" && c.serves != c.model {
		notes = append(notes, fmt.Sprintf("the server calls the model that answers %s, not %s", c.serves, c.model))
	}
	if !c.streams {
		notes = append(notes, "the server answers in one piece and does not stream: there are no first tokens and no gaps")
	}
	if first.Class == replay.NoDone {
		notes = append(notes, "the server ends streams without [DONE]: every request will be classed no_done")
	}
	if !first.InUsage.OK {
		notes = append(notes, c.uncounted()...)
		return append(notes, c.measurePath(ctx, &first)...), nil
	}
	second, n := c.probe(ctx, 2, probeLong), int32(probeLong)
	if second.HTTP.Or(0) == http.StatusBadRequest { // a very short context
		second, n = c.probe(ctx, 2, probeMiddle), probeMiddle
	}
	if second.Class != first.Class {
		return notes, c.complain(second.Reason)
	}
	more, err := c.calibrate(ctx, first.InUsage.V, second.InUsage.Or(0), n)
	if notes = append(notes, more...); err != nil {
		return notes, err
	}
	notes = append(notes, c.features(ctx)...)
	return append(notes, c.measurePath(ctx, &second)...), nil
}

// settle probes until the server takes the request, leaving out what it
// refuses and may be left out.
func (c *Client) settle(ctx context.Context) (replay.Result, []string, error) {
	var notes []string
	for {
		r := c.probe(ctx, 1, probeShort)
		if r.Class == replay.OK || r.Class == replay.NoDone {
			return r, notes, nil
		}
		code := r.HTTP.Or(0)
		switch {
		case code != http.StatusBadRequest && code != http.StatusUnprocessableEntity:
			return r, notes, c.complain(r.Reason)
		case strings.Contains(r.Reason, "max_completion_tokens") && !c.cfg.MaxCompletionTokens:
			c.cfg.MaxCompletionTokens = true
		case c.ignoreEOS && c.cfg.IgnoreEOS == Auto:
			c.ignoreEOS = false
			notes = append(notes, "the server refuses ignore_eos and min_tokens: answers may end before the planned length")
		case c.usage:
			c.usage = false
			notes = append(notes, "the server refuses stream_options: tokens by usage are not known")
		default:
			return r, notes, c.complain(r.Reason)
		}
	}
}

// tolerance is by how much the server may count our text otherwise than we do.
const tolerance = 0.01

// calibrate takes the template's tokens from the counts of a prompt of
// probeShort tokens and one of n. A server that counts otherwise than we do by
// more than 1 % would be sent another load than the trace's.
func (c *Client) calibrate(ctx context.Context, short, long, n int32) ([]string, error) {
	template, notes := short-probeShort, []string(nil)
	ours := n - probeShort
	slope := float64(long-short) / float64(ours)
	if long-short != ours {
		template = max(short-int32(math.Round(probeShort*slope)), 0)
	}
	if math.Abs(slope-1) > tolerance || template < 0 {
		say := fmt.Sprintf("the server counts %d tokens for %d of the trace's and %d for %d: its tokenizer is another one, and prompts come to %.2f times the planned length",
			short, probeShort, long, n, slope)
		if !c.cfg.Inexact {
			return nil, c.complain(say + "; name the server's with --tokenizer, send token ids to its completions API (--prompts ids), or send it all the same (--inexact)")
		}
		return []string{say}, nil
	}
	if long-short != ours {
		notes = append(notes, fmt.Sprintf("the template's %d tokens are approximate: the server counts %d tokens for %d of ours", template, long-short, ours))
	}
	c.template = template
	var note string
	if c.layout, note = c.locate(ctx, template); note != "" {
		notes = append(notes, note)
	}
	return notes, nil
}

func (c *Client) complain(reason string) error {
	return fmt.Errorf("preflight of %s: %s", c.target.public(), reason)
}

// probeTries is how often a probe is sent when the endpoint says that it is
// busy (429, 503, 529): its limit is no fault of the request. The requests of
// the plan are never sent twice.
const probeTries = 4

// maxProbeWait bounds what is waited between them, whatever Retry-After says.
const maxProbeWait = 10 * time.Second

// probe asks for one token with a prompt of n tokens that no job has.
func (c *Client) probe(ctx context.Context, key int64, n int) replay.Result {
	for try := 1; ; try++ {
		r := c.extra(ctx, key, n, 1)
		if try == probeTries || r.Class != replay.HTTP429 && r.Class != replay.Overload {
			return r
		}
		wait := min(time.Duration(r.RetryAfterMS.Or(500))*time.Millisecond, maxProbeWait)
		select {
		case <-ctx.Done():
			return r
		case <-time.After(max(wait, 0)):
		}
	}
}

// extra sends a request that is not planned.
func (c *Client) extra(ctx context.Context, key int64, n int, out int32) replay.Result {
	a := c.plainAsk()
	a.out = out
	return c.extraAsk(ctx, key, n, a)
}

// extraAsk is extra for a request of a kind.
func (c *Client) extraAsk(ctx context.Context, key int64, n int, a ask) replay.Result {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.MaxWarming)
	defer cancel()
	k, r := c.sendExtra(ctx, key, n, a)
	for try := 1; try < probeTries && k.query.seen.stale; try++ {
		// llama.cpp closes a connection after each streamed answer, and does not say so.
		c.drops.Store(true)
		k, r = c.sendExtra(ctx, key, n, a)
	}
	if key == 1 {
		c.server, c.streams, c.serves = k.server, !k.whole, k.named
	}
	if r.Class == replay.Cancelled && ctx.Err() == context.DeadlineExceeded {
		r.Reason = fmt.Sprintf("no answer within %v", c.cfg.MaxWarming)
	}
	return r
}

func (c *Client) sendExtra(ctx context.Context, key int64, n int, a ask) (*call, replay.Result) {
	k := &call{client: c, asked: key == 1}
	k.data = appendBody(make([]byte, c.room), c.target.api, a, func(dst []byte) []byte { return c.cfg.Prompter.AppendFresh(dst, key, n) })
	return k, k.Send(ctx, replay.NewFlight(replay.NewTimer(time.Now())))
}

// onlyModel asks which model the endpoint has; several are an error that
// names them.
func (c *Client) onlyModel(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.MaxWarming)
	defer cancel()
	code, body, err := c.get(ctx)
	if err != nil {
		return "", c.complain(transportFault(err, c.target.post.Host, false, false).reason)
	}
	if code != http.StatusOK {
		if code == 401 || code == 403 {
			return "", c.complain(statusFault(code, (&call{client: c}).message(body)).reason)
		}
		if code == http.StatusNotFound {
			return "", c.complain("HTTP 404 for the list of models at " + c.target.models.Path + ": is the URL right? Else name the model")
		}
		if c.plainAtTLS(code, body) {
			return "", c.complain(c.shouldBeTLS())
		}
		return "", c.complain(fmt.Sprintf("the list of models answers HTTP %d: name the model", code))
	}
	if sniff(body) == page {
		return "", c.complain("the endpoint answers HTML, not JSON: is the URL right?")
	}
	var names []string
	gjson.GetBytes(body, "data.#.id").ForEach(func(_, id gjson.Result) bool {
		names = append(names, oneLine(id.String()))
		return true
	})
	switch len(names) {
	case 1:
		return names[0], nil
	case 0:
		return "", c.complain("the list of models is empty: name the model")
	}
	slices.Sort(names)
	return "", c.complain("it has several models, name one: " + oneLine(strings.Join(names, ", ")))
}

// WarmUp sends n requests of 64 prompt tokens that no job shares, for 16
// tokens, at most 16 at one time. They are in no result.
func (c *Client) WarmUp(ctx context.Context, n int) error {
	var wg sync.WaitGroup
	turns, bad := make(chan struct{}, 16), make(chan string, n)
	for i := range n {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			if r := c.extra(ctx, int64(10+i), 64, 16); r.Class != replay.OK && r.Class != replay.NoDone {
				bad <- r.Reason
			}
		})
	}
	wg.Wait()
	if len(bad) > 0 {
		return c.complain(fmt.Sprintf("%d of %d warm-up requests failed: %s", len(bad), n, <-bad))
	}
	return nil
}
