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

// Spanner is a Prompter that can give parts of a prompt, for what the server
// puts in front of the text and behind it.
type Spanner interface {
	// AppendSpan appends what stands from one token of the job's prompt up to
	// another, and returns how many tokens that is: at least 1.
	AppendSpan(dst []byte, job *Job, from, to int32) ([]byte, int32)
	// Tokens returns the length of a request's prompt.
	Tokens(r *trace.Request) int32
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

// AppendPrompt appends the prompt of a job less its first tokens, which are the
// template's.
func (p *Prompts) AppendPrompt(dst []byte, job *Job, template int32) ([]byte, int32) {
	return p.AppendSpan(dst, job, max(template, 0), p.Tokens(&job.Request))
}

// AppendSpan appends what stands from one token of a job's prompt up to another,
// and returns how many tokens that is: at least 1. What the server's template
// and tools put in front of the text begins the prompt, so a text that begins
// behind them has its blocks where the server has its own.
func (p *Prompts) AppendSpan(dst []byte, job *Job, from, to int32) ([]byte, int32) {
	from = max(from, 0)
	to = max(min(to, p.Tokens(&job.Request)), from+1)
	start := len(dst)
	at := int32(0)
	for _, q := range p.pieces(job, from, to) {
		lo, hi := max(at, from), min(at+int32(q.n), to)
		if at += int32(q.n); lo < hi {
			dst = p.append(dst, start, piece{q.block, int(hi - lo)})
		}
	}
	return dst, to - from
}

// append puts a piece after a space (a comma for ids), or bare at the prompt's
// start.
func (p *Prompts) append(dst []byte, start int, q piece) []byte {
	if len(dst) == start {
		return append(dst, p.text.AppendBlock(nil, q.block, q.n)...)
	}
	return p.text.AppendBlock(dst, q.block, q.n)
}

// pieces are the runs of a job's prompt, up to token to at least. Without
// sharing, every block that begins before or at from is the row's own.
func (p *Prompts) pieces(job *Job, from, to int32) []piece {
	left := int(max(p.Tokens(&job.Request), to))
	blocks := job.Request.Blocks
	out := make([]piece, 0, len(blocks)+1)
	for i, b := range blocks {
		if left == 0 {
			break
		}
		q := piece{int64(b), min(left, p.size)}
		if p.mode == CacheNone && i*p.size <= int(from) {
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
