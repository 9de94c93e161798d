package sanitize

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"reprise/ingest"
	"reprise/sanitize/spill"
	"reprise/trace"
	"reprise/trace/block"
)

// item is a record without its text: a row that is not written yet, and what
// the collector needs of it.
type item struct {
	row
	pos   ingest.Pos
	bad   *ingest.RowError
	rule  Rule
	size  int // of the source's blocks, 0 when it has none
	model string
	lora  string // adapter

	body  []byte // the row without its head
	marks marks  // of the prompt's tokens
}

// reset empties it but keeps the room.
func (it *item) reset() {
	it.marks.reset()
	*it = item{body: it.body[:0], marks: it.marks, row: row{digests: it.digests[:0]}}
}

// cleaner does the expensive part for one goroutine.
type cleaner struct {
	policy  Policy
	tok     Tokenizer    // nil when there is none
	chain   *block.Chain // shared
	sampler *sampler     // shared
	several bool         // inputs, so that a row may be there twice
	buf     []int32
	other   []int32 // of the second tokenizer
	digests []block.Digest
}

// clean fills it, which is empty.
func (c *cleaner) clean(r *ingest.Record, it *item) {
	it.pos, it.relative, it.model, it.lora = r.Pos, r.Relative, r.Model, r.Adapter
	if it.rule = ruleOf(r); it.rule != "" {
		return
	}
	it.req = trace.Request{T: r.Arrival, API: r.API, Cached: r.CachedTokens, Reason: r.ReasoningTokens,
		Media: r.MediaTokens, Max: r.MaxTokens, Stream: r.Stream, Tools: r.Tools, Schema: r.JSONSchema,
		N: max(r.N.V, 1), Finish: r.Finish, Status: r.Status, TTFT: r.TTFT, Dur: r.Duration}
	c.names(r, it)
	c.output(r, it)
	c.input(r, it)
	if it.bad == nil {
		it.bad = consistent(r.Pos, &it.req)
	}
	if it.bad == nil {
		it.body = it.row.append(it.body)
	}
}

// ruleOf says why a record is no part of the workload, nothing when it is.
func ruleOf(r *ingest.Record) Rule {
	switch {
	case r.Rule != "":
		return r.Rule
	case r.OtherAPI:
		return ingest.NotGeneration
	case r.ProxyCache.V:
		return ingest.ProxyCacheHit
	}
	return ""
}

// names makes keyed digests of what stands for somebody or something.
func (c *cleaner) names(r *ingest.Record, it *item) {
	it.session, it.client = c.name("session", r.Session), c.name("client", r.Client)
	it.parent = c.name("request", r.Parent)
	if it.call = c.name("call", r.RetryOf); r.Attempt.OK {
		it.attempt = int32(max(r.Attempt.V, 0)) + 1
	}
	if !placeholder(r.RequestID) {
		it.id = c.name("request", r.RequestID)
	}
}

// placeholder says that an id is a word for none, as some logs have it in
// every row.
func placeholder(id string) bool {
	return len(id) < 10 && slices.Contains([]string{"", "0", "-", "none", "null", "nil", "nan", "n/a", "unknown", "undefined", "default"}, strings.ToLower(id))
}

// name is the keyed digest of a name, the zero key for no name.
func (c *cleaner) name(kind, name string) spill.Key {
	if name == "" {
		return spill.Key{}
	}
	return nameKey(c.chain, kind, name)
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
	c.countOutput(r, it)
	if c.several && it.id == (spill.Key{}) {
		it.answer = c.name("answer", r.Output)
	}
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
	if r.SchemaText != "" && c.tok != nil {
		c.other = c.tok.Encode(c.other[:0], r.SchemaText)
		it.req.SchemaT = trace.Some(int32(len(c.other)))
	}
	if !r.HasPrompt {
		return
	}
	if !it.req.Media.OK && r.MediaParts == 0 {
		it.req.Media = trace.Some[int32](0)
	}
	compared := (c.several || r.Client != "") && !r.Truncated // with other prompts, as a whole
	if c.tok == nil {
		if it.req.InChars = chars(r); r.Truncated {
			it.req.InChars = trace.Opt[int32]{}
		}
		if compared {
			it.prompt = c.name("prompt", wholeText(r))
		}
		return
	}
	p := render(c.tok, r, c.buf)
	c.buf = p.tokens
	c.countInput(r, it, len(p.tokens))
	if len(r.PromptTokens) == 0 && !r.Truncated {
		it.req.InChars = trace.Some(int32(p.chars))
	}
	if r.Tools.OK && (!r.Tools.V || r.ToolText != "") {
		it.req.ToolTok = trace.Some(int32(p.toolTokens))
	}
	if !r.InputTokens.OK || (r.InputTokens.V == 0 && len(p.tokens) > 0) {
		it.req.Input = trace.Some(int32(len(p.tokens)))
		it.req.From = trace.Counted
		if r.MediaParts > 0 || r.Truncated || p.refused {
			it.req.From = trace.Estimated // what images cost, or what was cut out, is not known
		}
	}
	if !r.Truncated { // what was cut out makes blocks that no engine had
		c.blocks(r, it, p.tokens, compared)
	}
}

// blocks makes the digests of the prompt's blocks, and of the prompt as a whole
// where it is compared.
func (c *cleaner) blocks(r *ingest.Record, it *item, tokens []int32, compared bool) {
	size, input := c.policy.BlockTokens, int(it.req.Input.V)
	root := c.root(r)
	whole := min(len(tokens), input) / size
	c.digests = c.chain.Digests(c.digests[:0], root, tokens[:whole*size], size)
	if compared {
		it.prompt = c.whole(root, tokens[whole*size:])
	}
	if r.BlockTokens > 0 {
		return // the source's own are kept
	}
	it.marks.tokens, it.marks.rank = len(tokens), rank(r.Pos.Item, r.Pos.Sub)
	if c.sampler.wants(it.marks.rank) {
		it.marks.of(root, tokens)
	}
	for i := range c.digests {
		it.digests = append(it.digests, c.digests[i][:]...)
	}
	it.marks.blocks = it.digests[:min(len(it.digests), blockBytes*markBlocks)]
	it.fresh = (input+size-1)/size - whole
}

// whole is the digest of a prompt whose first blocks have digests already.
func (c *cleaner) whole(root block.Digest, rest []int32) spill.Key {
	last := root
	if n := len(c.digests); n > 0 {
		last = c.digests[n-1]
	}
	if len(rest) == 0 {
		return keyOf(last)
	}
	return keyOf(c.chain.Digests(nil, last, rest, len(rest))[0])
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
	it.row.given, it.size = true, r.BlockTokens
	for _, id := range r.Blocks {
		it.digests = binary.LittleEndian.AppendUint64(it.digests, uint64(id))
	}
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

// wholeText is a prompt in one string, to be compared with others.
func wholeText(r *ingest.Record) string {
	if len(r.Messages) == 0 {
		return r.Prompt
	}
	var b strings.Builder
	b.WriteString(r.ToolText)
	for i := range r.Messages {
		m := &r.Messages[i]
		for _, s := range []string{m.Role, m.Name, m.Text} {
			b.WriteByte(0)
			b.WriteString(s)
		}
	}
	return b.String()
}
