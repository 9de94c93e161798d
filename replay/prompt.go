package replay

import (
	"fmt"
	"math"
	"slices"

	"reprise/trace"
	"reprise/trace/token"
)

// Prompter makes the text of prompts. Any number of goroutines may share it.
type Prompter interface {
	// AppendPrompt appends the prompt of a job, less the tokens that the
	// server's template will add, and returns how many tokens it appended: at
	// least 1.
	AppendPrompt(dst []byte, job *Job, template int32) ([]byte, int32)
	// AppendFresh appends n tokens that no job's prompt begins with; one key
	// gives one text.
	AppendFresh(dst []byte, key int64, n int) []byte
}

// IDs tells whether a prompter appends token ids, decimal and with commas
// between, and not text: for vocabularies in which no text of exactly n tokens
// can be made.
func IDs(p Prompter) bool {
	x, ok := p.(interface{ IDs() bool })
	return ok && x.IDs()
}

// The cache modes: what a run does about the server's prefix cache.
const (
	// CacheWorkload salts the run: prompts share among themselves what the
	// trace shares, and nothing with any other run.
	CacheWorkload = "workload"
	// CacheNone gives every prompt a first block of its own: nothing is shared.
	CacheNone = "none"
	// CacheKeep uses no salt: a second run finds the first one's blocks.
	CacheKeep = "keep"
)

// Prompts makes surrogate prompts of exactly input_tokens tokens in which two
// rows share text where the trace has the same blocks. Where a row has fewer
// blocks than its length needs, the rest is text of its own.
type Prompts struct {
	text   *token.Text
	size   int
	mode   string
	median int32 // for rows without a length
	notes  []string
}

// NewPrompts returns the prompts of a trace under a cache mode; salt marks the
// run and is used by every mode but keep.
func NewPrompts(text *token.Text, t *trace.Trace, mode string, salt int64) (*Prompts, error) {
	if !slices.Contains([]string{CacheWorkload, CacheNone, CacheKeep}, mode) {
		return nil, fmt.Errorf("cache mode %q is not workload, none or keep", mode)
	}
	if t.Header.BlockTokens < 1 {
		return nil, fmt.Errorf("the trace has blocks of %d tokens", t.Header.BlockTokens)
	}
	if mode != CacheKeep {
		text = text.WithSalt(salt)
	}
	p := &Prompts{text: text, size: t.Header.BlockTokens, mode: mode, median: 1}
	switch {
	case text.IDs():
		p.notes = append(p.notes, fmt.Sprintf("prompts are token ids, of %d ordinary tokens: the words of the list are not one token each", text.Words()))
	case text.SHA256() != token.WordListSHA256():
		p.notes = append(p.notes, fmt.Sprintf("prompts are made of %d words of the list that are one token each (SHA-256 %s)", text.Words(), text.SHA256()))
	}
	p.look(t)
	return p, nil
}

// IDs tells whether the prompts are token ids.
func (p *Prompts) IDs() bool { return p.text.IDs() }

// Notes says what the trace does not state and how it is made up for.
func (p *Prompts) Notes() []string { return p.notes }

func (p *Prompts) look(t *trace.Trace) {
	var known []int32
	var noBlocks, short int
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Input.OK {
			known = append(known, r.Input.V)
		}
		switch have := len(r.Blocks) * p.size; {
		case have == 0:
			noBlocks++
		case r.Input.OK && have < int(r.Input.V):
			short++
		}
	}
	if slices.Sort(known); len(known) > 0 {
		p.median = known[(len(known)-1)/2]
	}
	note := func(n int, say string) {
		if n > 0 {
			p.notes = append(p.notes, fmt.Sprintf("%d of %d rows "+say, n, len(t.Requests)))
		}
	}
	note(noBlocks, "have no prefix blocks: their prompts share nothing")
	note(short, "have fewer blocks than their length needs: the rest of their prompts shares nothing")
	note(len(t.Requests)-len(known), fmt.Sprintf("state no input length: their blocks', or the median of %d tokens, stands in", p.median))
}

// Tokens returns the length of a request's prompt.
func (p *Prompts) Tokens(r *trace.Request) int32 {
	switch {
	case r.Input.OK:
		return max(r.Input.V, 1)
	case len(r.Blocks) > 0:
		return int32(min(len(r.Blocks)*p.size, math.MaxInt32))
	}
	return p.median
}

// piece is a run of n words of one block.
type piece struct {
	block int64
	n     int
}

// AppendPrompt appends the prompt of a job. The template's tokens come off the
// first block, then the next, each keeping a word as its mark, so that blocks
// further on stay aligned with the server's.
func (p *Prompts) AppendPrompt(dst []byte, job *Job, template int32) ([]byte, int32) {
	pieces := p.pieces(job)
	total := int(p.Tokens(&job.Request))
	cut := min(int(max(template, 0)), total-1)
	kept := total - cut
	for i := range pieces {
		k := min(cut, pieces[i].n-1)
		pieces[i].n, cut = pieces[i].n-k, cut-k
	}
	for i := len(pieces) - 1; cut > 0; i-- { // blocks of one word are left
		pieces[i].n, cut = 0, cut-1
	}
	start := len(dst)
	for _, q := range pieces {
		if q.n > 0 {
			dst = p.append(dst, start, q)
		}
	}
	return dst, int32(kept)
}

// append puts a piece after a space (a comma for ids), or bare at the prompt's
// start.
func (p *Prompts) append(dst []byte, start int, q piece) []byte {
	if len(dst) == start {
		return append(dst, p.text.AppendBlock(nil, q.block, q.n)...)
	}
	return p.text.AppendBlock(dst, q.block, q.n)
}

func (p *Prompts) pieces(job *Job) []piece {
	left := int(p.Tokens(&job.Request))
	blocks := job.Request.Blocks
	out := make([]piece, 0, len(blocks)+1)
	for i, b := range blocks {
		if left == 0 {
			break
		}
		q := piece{int64(b), min(left, p.size)}
		if i == 0 && p.mode == CacheNone {
			q.block = own(job.Row, 1)
		}
		out, left = append(out, q), left-q.n
	}
	if left > 0 {
		out = append(out, piece{own(job.Row, 0), left})
	}
	return out
}

// own returns a block number that no trace and no other row has.
func own(row, which int64) int64 { return -2 - 2*row - which }

// AppendFresh appends n tokens by key, from block numbers that no row uses.
func (p *Prompts) AppendFresh(dst []byte, key int64, n int) []byte {
	return p.append(dst, len(dst), piece{math.MinInt64 + key, n})
}

// TooShort says how many prompts of t cannot be as short as planned because the
// server's template alone takes as much; empty when there is none.
func (p *Prompts) TooShort(t *trace.Trace, template int32) string {
	n := 0
	for i := range t.Requests {
		if p.Tokens(&t.Requests[i]) <= template {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d prompts are no longer than the server's template of %d tokens: they are sent with one token of content and so are longer than planned", n, len(t.Requests), template)
}
