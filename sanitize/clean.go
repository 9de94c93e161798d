package sanitize

import (
	"unicode/utf8"

	"reprise/ingest"
	"reprise/trace"
	"reprise/trace/block"
)

// item is a record without its text: a request that is not numbered yet.
type item struct {
	pos      ingest.Pos
	bad      *ingest.RowError
	rule     Rule
	req      trace.Request // T as in the log
	relative bool

	session, client, model, adapter string
	requestID, parent               string

	digests []block.Digest // of the whole blocks that the prompt's tokens fill
	fresh   int            // blocks after those, which nothing shares
	given   []int64        // blocks as the source names them
	size    int            // of the given blocks
}

// cleaner does the expensive part for one goroutine.
type cleaner struct {
	policy Policy
	tok    Tokenizer    // nil when there is none
	chain  *block.Chain // shared
	buf    []int32
}

// clean fills it, which is empty.
func (c *cleaner) clean(r *ingest.Record, it *item) {
	it.pos, it.relative, it.session, it.client, it.model = r.Pos, r.Relative, r.Session, r.Client, r.Model
	it.adapter, it.requestID, it.parent = r.Adapter, r.RequestID, r.Parent
	switch {
	case r.OtherAPI:
		it.rule = NotGeneration
		return
	case r.ProxyCache.V:
		it.rule = ProxyCacheHit
		return
	}
	it.req = trace.Request{T: r.Arrival, API: r.API, Cached: r.CachedTokens, Reason: r.ReasoningTokens,
		Media: r.MediaTokens, Max: r.MaxTokens, Stream: r.Stream, Tools: r.Tools, Schema: r.JSONSchema,
		N: max(r.N.V, 1), Finish: r.Finish, Status: r.Status, TTFT: r.TTFT, Dur: r.Duration}
	c.output(r, it)
	c.input(r, it)
	if it.bad == nil {
		it.bad = consistent(r.Pos, &it.req)
	}
}

// consistent checks that parts are no larger than their whole.
func consistent(pos ingest.Pos, q *trace.Request) *ingest.RowError {
	switch {
	case q.Cached.OK && q.Input.OK && q.Cached.V > q.Input.V:
		return &ingest.RowError{Pos: pos, Reason: ingest.BadNumber, Detail: "cached_tokens is more than input_tokens"}
	case q.Reason.OK && q.Output.OK && q.Reason.V > q.Output.V:
		return &ingest.RowError{Pos: pos, Reason: ingest.BadNumber, Detail: "reasoning_tokens is more than output_tokens"}
	}
	return nil
}

// output takes the server's count, and counts the text where the server left it
// out or, as streams without usage do, wrote zero.
func (c *cleaner) output(r *ingest.Record, it *item) {
	it.req.Output = r.OutputTokens
	if !r.HasOutput {
		return
	}
	it.req.OutCh = trace.Some(int32(utf8.RuneCountInString(r.Output)))
	if c.tok != nil && (!r.OutputTokens.OK || (r.OutputTokens.V == 0 && r.Output != "")) {
		c.buf = c.tok.Encode(c.buf[:0], r.Output)
		it.req.Output = trace.Some(int32(len(c.buf)))
		it.req.From = trace.Counted
	}
}

// input counts the prompt and cuts it into blocks. The blocks always come from
// our tokens and their number from input_tokens, ceil(input/size): where the
// server counted less than we did, blocks beyond its count are dropped; where
// it counted more, the rest are blocks that nothing shares, as is the partial
// last one.
func (c *cleaner) input(r *ingest.Record, it *item) {
	it.req.Input = r.InputTokens
	if r.BlockTokens > 0 {
		c.given(r, it)
	}
	if !r.HasPrompt {
		return
	}
	if !it.req.Media.OK && r.MediaParts == 0 {
		it.req.Media = trace.Some[int32](0)
	}
	if c.tok == nil {
		it.req.InChars = chars(r)
		return
	}
	p := render(c.tok, r, c.buf)
	c.buf = p.tokens
	if len(r.PromptTokens) == 0 {
		it.req.InChars = trace.Some(int32(p.chars))
	}
	if r.Tools.OK {
		it.req.ToolTok = trace.Some(int32(p.toolTokens))
	}
	if !r.InputTokens.OK || (r.InputTokens.V == 0 && len(p.tokens) > 0) {
		it.req.Input = trace.Some(int32(len(p.tokens)))
		it.req.From = trace.Counted
		if r.MediaParts > 0 {
			it.req.From = trace.Estimated // what images cost is not known
		}
	}
	if r.BlockTokens > 0 {
		return
	}
	size, input := c.policy.BlockTokens, int(it.req.Input.V)
	whole := min(len(p.tokens), input) / size
	it.digests = c.chain.Digests(nil, c.root(r), p.tokens[:whole*size], size)
	it.fresh = (input+size-1)/size - whole
}

// root keeps apart what no engine shares: models, adapters, token ids of an
// unknown vocabulary, and clients when the policy says that they are isolated.
func (c *cleaner) root(r *ingest.Record) block.Digest {
	s := block.Scope{Tokenizer: c.tok.SHA256(), Model: r.Model, Adapter: r.Adapter}
	if len(r.PromptTokens) > 0 {
		s.Tokenizer = "ids"
	}
	if c.policy.IsolateClients {
		s.Isolation = r.Client
	}
	return c.chain.Root(s)
}

// given keeps the source's blocks. Their number must fit the length; a source
// that leaves the partial last block out gets one that nothing shares.
func (c *cleaner) given(r *ingest.Record, it *item) {
	it.given, it.size = r.Blocks, r.BlockTokens
	if !r.InputTokens.OK {
		return
	}
	in, n := int(r.InputTokens.V), len(r.Blocks)
	switch {
	case n == (in+it.size-1)/it.size:
	case n == in/it.size:
		it.fresh = 1
	default:
		it.bad = &ingest.RowError{Pos: r.Pos, Reason: ingest.BadBlocks, Detail: "their number does not fit input_tokens"}
	}
}

func chars(r *ingest.Record) trace.Opt[int32] {
	if len(r.PromptTokens) > 0 {
		return trace.Opt[int32]{}
	}
	n := utf8.RuneCountInString(r.Prompt)
	for i := range r.Messages {
		n += utf8.RuneCountInString(r.Messages[i].Text)
	}
	return trace.Some(int32(n))
}
