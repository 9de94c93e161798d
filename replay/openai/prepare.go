package openai

import (
	"fmt"

	"reprise/replay"
	"reprise/trace"
)

// Prepare renders the body of a job.
func (c *Client) Prepare(job replay.Job) (replay.Call, error) {
	r := &job.Request
	a, err := c.ask(r)
	if err != nil {
		return nil, err
	}
	out := r.Output
	if !out.OK {
		out = r.Max
	}
	if out.OK {
		// Output counts all completions of a request; a server wants one at least.
		a.out = max((out.V+int32(a.n)-1)/int32(a.n), 1)
	}
	k := &call{client: c, planned: true, keep: c.cfg.KeepText, several: a.n > 1, result: replay.Result{Endpoint: c.cfg.Label, OutAsked: out}}
	var tokens int32
	k.data, tokens = c.render(make([]byte, c.room, c.room+guess(&job)), &job, a)
	if out.OK {
		k.result.OutAsked.V = a.out * int32(a.n)
	}
	k.result.InAsked = some(tokens)
	if r.Input.OK {
		k.result.InAsked = r.Input
	}
	k.answerRoom = int(min(max(out.V, 0), maxRoom))
	return k, nil
}

// ask is what a request of the trace asks for, but for its lengths.
func (c *Client) ask(r *trace.Request) (ask, error) {
	a := c.plainAsk()
	a.n = max(r.N, 1)
	if r.Adapter != "" {
		name, ok := c.cfg.Adapters[r.Adapter]
		if !ok {
			return a, fmt.Errorf("the adapter %s has no name at the endpoint", r.Adapter)
		}
		a.model = name
	}
	if c.constrained(r) {
		// A grammar ends an answer; a server told to write on would break it.
		a.ignoreEOS = false
	}
	return a, nil
}

// plainAsk asks for one completion as preflight settled it.
func (c *Client) plainAsk() ask {
	return ask{model: c.model, n: 1, ignoreEOS: c.ignoreEOS, usage: c.usage, byNewName: c.cfg.MaxCompletionTokens, extra: c.cfg.Extra, ids: replay.IDs(c.cfg.Prompter)}
}

// render makes the body: what the server puts before the text, tools and schema
// included, the text, and what it puts behind, closing sentence included, come
// to the prompt's length. It returns how many tokens that is.
func (c *Client) render(dst []byte, job *replay.Job, a ask) ([]byte, int32) {
	r, at := &job.Request, c.layout.front
	from := at // of the words in tools and schema: their fixed part has none
	words := func(dst []byte, n int32) []byte {
		dst, _ = c.span(dst, job, from, from+n)
		from += n
		return dst
	}
	if has(r.Tools, r.ToolTok) && c.tools.ok {
		a.tools, at = c.tools.appendTools(nil, r.ToolTok.Or(0), at, words)
	}
	if has(r.Schema, r.SchemaT) && c.schema.ok {
		a.schema, at = c.schema.appendSchema(nil, r.SchemaT.Or(0), at, words)
	}
	total := c.length(job)
	end := total - c.layout.back
	closing := ""
	if c.closes(a) && end-at > 2*c.cfg.Closing.Tokens {
		closing, end = c.cfg.Closing.Text, end-c.cfg.Closing.Tokens
	}
	var text int32
	dst = appendBody(dst, c.target.api, a, func(dst []byte) []byte {
		dst, text = c.span(dst, job, at, end)
		return append(dst, closing...)
	})
	tokens := at + text + c.layout.back
	if closing != "" {
		tokens += c.cfg.Closing.Tokens
	}
	return dst, tokens
}

// closes tells whether a request ends in the closing sentence: where the server
// is free to end the answer, and nothing else decides on its form.
func (c *Client) closes(a ask) bool {
	return c.cfg.Closing.Tokens > 0 && !a.ignoreEOS && a.schema == nil && a.out > 0 && !a.ids
}

// maxRoom bounds the gaps that a request makes room for ahead.
const maxRoom = 4096

// guess is about what a body takes, so that it need not be moved as it grows.
func guess(job *replay.Job) int { return 512 + 6*int(min(max(job.Request.Input.Or(0), 0), 1<<20)) }
