package sanitize

import (
	"context"
	"errors"
	"iter"
	"runtime"

	"reprise/ingest"
	"reprise/sanitize/spill"
	"reprise/trace"
	"reprise/trace/block"
)

// Collect reads the records to their end and returns the rows and the account of
// them. tok may be nil: then nothing is counted and there are no blocks. several
// says that the records come of several inputs, in which a row may be there
// twice. key comes from block.NewKey.
//
// A row that cannot be used is accounted for; an error that ends the records
// ends Collect. The caller asks the account whether too many rows were bad, and
// closes the rows. Memory stays within room whatever the number of records.
func Collect(ctx context.Context, records iter.Seq2[ingest.Record, error], several bool, policy Policy, tok Tokenizer, key [32]byte, room Room) (*Rows, error) {
	if err := policy.Validate(); err != nil {
		return nil, err
	}
	if room.Memory == 0 {
		room.Memory = DefaultMemory
	}
	rows := &Rows{space: spill.NewSpace(room.Dir)}
	c := newCollector(rows.space, room)
	rows.Account = c.account
	chain := block.NewChain(key)
	newWork := func() func(*ingest.Record, error, *item) {
		cl := &cleaner{policy: policy, tok: tok, chain: chain, sampler: c.sampler, several: several}
		return func(r *ingest.Record, err error, out *item) {
			out.reset()
			if bad, ok := rowError(err); ok {
				out.pos, out.bad = bad.Pos, bad
				return
			}
			cl.clean(r, out)
		}
	}
	err := ordered(ctx, records, stage[ingest.Record, item]{workers: runtime.GOMAXPROCS(0), newWork: newWork,
		isValue: func(err error) bool { _, ok := rowError(err); return ok }, weigh: weight, emit: c.add})
	if err == nil {
		err = rows.finish(ctx, c, policy, room)
	}
	if err == nil {
		err = c.sampler.look(policy.BlockTokens, func(do func(*row) error) error { return rows.each(ctx, do) })
	}
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	rows.names = namesOf{chain, c.models, c.adapters, policy}
	rows.Header = header(c, rows.clock, policy, tok)
	return rows, nil
}

func header(c *collector, k clock, policy Policy, tok Tokenizer) trace.Header {
	h := trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: policy.BlockTokens, Tail: trace.TailFresh,
		Time: k.header(policy.Calendar), Profile: "exact", Counts: c.account.Counts()}
	if c.size > 0 {
		h.BlockTokens, h.Tail = c.size, trace.TailAsGiven
	}
	if tok != nil {
		h.Tokenizer = trace.Named{Name: tok.Name(), SHA256: tok.SHA256()}
	}
	if t, ok := tok.(*Counting); ok {
		h.Template = t.named()
		if t.also != nil {
			h.Counting = &trace.Counting{Also: &trace.Also{Tokenizer: trace.Named{Name: t.also.Name(), SHA256: t.also.SHA256()}, Template: t.also.named()}}
		}
	}
	if b := c.sampler.broken(); b != nil {
		if h.Counting == nil {
			h.Counting = new(trace.Counting)
		}
		h.Counting.Broken = b
	}
	return h
}

// CollectLog is Collect with the header's sources taken from the log.
func CollectLog(ctx context.Context, log *ingest.Log, policy Policy, tok Tokenizer, key [32]byte, room Room) (*Rows, error) {
	rows, err := Collect(ctx, log.Records(), log.Several(), policy, tok, key, room)
	if err == nil {
		rows.Header.Sources = log.Sources()
	}
	return rows, err
}

// Load is the whole trace in memory. It reads the rows as Requests does, and
// closes them.
func (r *Rows) Load(ctx context.Context) (*trace.Trace, error) {
	t := &trace.Trace{Header: r.Header, Requests: make([]trace.Request, 0, r.Account.Kept)}
	for q, err := range r.Requests(ctx) {
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		t.Requests = append(t.Requests, q)
	}
	return t, r.Close()
}

// rowError is the error of a row that could not be a record.
func rowError(err error) (bad *ingest.RowError, ok bool) {
	ok = err != nil && errors.As(err, &bad)
	return bad, ok
}

// weight is about the bytes of a record's texts.
func weight(r *ingest.Record) int {
	n := len(r.Prompt) + len(r.Output) + len(r.ToolText) + 4*len(r.PromptTokens) + 8*len(r.Blocks)
	for i := range r.Messages {
		n += len(r.Messages[i].Text)
	}
	return n
}
