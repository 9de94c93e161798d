package openai

import (
	"context"
	"fmt"
	"math"

	"reprise/replay"
	"reprise/trace"
)

// What the log had of tools and schemas is not in a trace: only how many tokens
// they took. Public ones of our own, padded with words, take as many. What one
// takes is measured at the endpoint, since each server writes them into the
// prompt in its own way, or not at all.

// cost is what a feature adds to a prompt, tokens.
type cost struct {
	ok   bool
	base int32 // once
	each int32 // for each tool
}

// maxPad is the most words of one tool's description: OpenAI takes 1,024
// characters.
const maxPad = 120

// has tells whether a request had a feature.
func has(is trace.Opt[bool], tokens trace.Opt[int32]) bool { return is.V || tokens.Or(0) > 0 }

// constrained tells whether a grammar holds the answer of a request.
func (c *Client) constrained(r *trace.Request) bool { return c.schema.ok && has(r.Schema, r.SchemaT) }

// split returns how many tools come to want tokens, and with how many words.
func (t cost) split(want int32) (tools, words int32) {
	rest := want - t.base
	tools = max(1, (rest+t.each+maxPad-1)/(t.each+maxPad))
	tools = min(tools, 128) // OpenAI's most
	return tools, max(rest-tools*t.each, 0)
}

// appendTools appends tools that take want tokens, as near as whole tools come,
// and returns where in the prompt they end.
func (t cost) appendTools(dst []byte, want, at int32, words func([]byte, int32) []byte) ([]byte, int32) {
	n, pad := t.split(want)
	return appendTools(dst, n, pad, words), at + t.base + n*t.each + pad
}

// appendTools appends n tools with pad words in all.
func appendTools(dst []byte, n, pad int32, words func([]byte, int32) []byte) []byte {
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, fmt.Sprintf(`{"type":"function","function":{"name":"tool_%03d","description":"`, i)...)
		if share := pad/n + int32(one(i < pad%n)); share > 0 {
			dst = append(dst, words(nil, share)...)
		}
		dst = append(dst, `","parameters":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}}`...)
	}
	return append(dst, ']')
}

// appendSchema appends a response format that takes want tokens.
func (t cost) appendSchema(dst []byte, want, at int32, words func([]byte, int32) []byte) ([]byte, int32) {
	pad := max(want-t.base, 0)
	if t.each == 0 { // not counted in the prompt: no words
		pad = 0
	}
	dst = append(dst, `{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object","description":"`...)
	if pad > 0 {
		dst = append(dst, words(nil, pad)...)
	}
	dst = append(dst, `","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}}}`...)
	if t.each == 0 {
		return dst, at
	}
	return dst, at + t.base + pad
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Numbers of words in the probes of features, for one tool and for two.
const (
	padShort = 8
	padLong  = 40
)

// features measures what tools and a schema add, where the trace has them.
func (c *Client) features(ctx context.Context) (notes []string) {
	base := c.template + probeShort
	if c.template < 0 {
		base = -1
	}
	if c.cfg.Tools {
		notes = append(notes, c.measureTools(ctx, base)...)
	}
	if c.cfg.Schema {
		notes = append(notes, c.measureSchema(ctx, base)...)
	}
	return notes
}

// measureTools sends one tool with padShort words, and two with padLong.
func (c *Client) measureTools(ctx context.Context, base int32) []string {
	if c.target.api != Chat {
		return []string{"the completions API has no tools: their tokens are sent as text"}
	}
	took := func(tools, words int32) (int32, string) {
		return c.tookFeature(ctx, base, 20+int64(tools), func(a *ask, pad func([]byte, int32) []byte) {
			a.tools = appendTools(nil, tools, words, pad)
		})
	}
	a, why := took(1, padShort)
	b, why2 := took(2, padLong)
	each := b - padLong - (a - padShort)
	t := cost{ok: true, base: a - padShort - each, each: each}
	switch {
	case why != "" || why2 != "":
		return []string{"tools are not replayed, their tokens are sent as text: " + why + why2}
	case each <= 0 || t.base < 0:
		return []string{fmt.Sprintf("tools are not replayed, their tokens are sent as text: the server counts %d tokens for one tool and %d for two", a, b)}
	}
	c.tools = t
	return []string{fmt.Sprintf("tools are replayed by public ones of as many tokens (%d and %d for each, and words); they are offered and not to be called", t.base, t.each)}
}

// measureSchema sends a schema with padShort and with padLong words.
func (c *Client) measureSchema(ctx context.Context, base int32) []string {
	took := func(words int32) (int32, string) {
		return c.tookFeature(ctx, base, 30+int64(words), func(a *ask, pad func([]byte, int32) []byte) {
			a.schema, _ = cost{each: 1}.appendSchema(nil, words, 0, pad)
			a.ignoreEOS = false
		})
	}
	a, why := took(padShort)
	b, why2 := took(padLong)
	const more = padLong - padShort
	switch {
	case why != "" || why2 != "":
		return []string{"JSON schemas are not replayed, answers are free text: " + why + why2}
	case a == 0 && b == 0:
		c.schema = cost{ok: true}
		return []string{"JSON schemas are replayed by a public one, which the server does not count in the prompt: their tokens are sent as text; such answers end when the grammar lets them"}
	case math.Abs(float64(b-a-more)) > 0.01*more || a < padShort:
		return []string{fmt.Sprintf("JSON schemas are not replayed: the server counts %d tokens for %d words of one and %d for %d", a, padShort, b, padLong)}
	}
	c.schema = cost{ok: true, base: a - padShort, each: 1}
	return []string{fmt.Sprintf("JSON schemas are replayed by a public one of as many tokens (%d and words); such answers end when the grammar lets them", c.schema.base)}
}

// tookFeature is what a feature adds to the tokens of a probe of probeShort, or
// why that is not known.
func (c *Client) tookFeature(ctx context.Context, base int32, key int64, add func(*ask, func([]byte, int32) []byte)) (int32, string) {
	if base < 0 {
		return 0, "the server's own tokens are not known"
	}
	a := c.plainAsk()
	n := int64(0)
	add(&a, func(dst []byte, words int32) []byte {
		n++
		return append(dst, c.cfg.Prompter.AppendFresh(nil, key*100+n, int(words))...)
	})
	a.out = 1
	r := c.extraAsk(ctx, key, probeShort, a)
	if r.Class != replay.OK && r.Class != replay.NoDone {
		return 0, oneLine(r.Reason)
	}
	if !r.InUsage.OK {
		return 0, "the server reports no usage"
	}
	return r.InUsage.V - base, ""
}
