package sanitize

import (
	"context"
	"errors"
	"iter"
	"runtime"

	"reprise/ingest"
	"reprise/trace"
	"reprise/trace/block"
)

// Apply reads the records to their end and returns the trace and the account of
// the rows. tok may be nil for logs without text; key comes from block.NewKey. A row
// that cannot be used is accounted for; an error that ends the records ends
// Apply, and then there is no trace. The caller asks the account whether too
// many rows were bad.
//
// The header lacks what only the caller knows: Tool, and Sources, which
// ApplyLog fills in.
func Apply(ctx context.Context, records iter.Seq2[ingest.Record, error], policy Policy, tok Tokenizer, key [32]byte) (*trace.Trace, *Account, error) {
	if err := policy.Validate(); err != nil {
		return nil, nil, err
	}
	c := newCollector()
	chain := block.NewChain(key)
	newWork := func() func(*input, *item) {
		cl := &cleaner{policy: policy, tok: tok, chain: chain}
		return func(in *input, out *item) {
			if in.bad != nil {
				out.pos, out.bad = in.bad.Pos, in.bad
				return
			}
			cl.clean(&in.record, out)
		}
	}
	if err := ordered(ctx, inputs(records), runtime.GOMAXPROCS(0), newWork, c.add); err != nil {
		return nil, c.account, err
	}
	requests, clock, err := c.finish(policy)
	if err != nil {
		return nil, c.account, err
	}
	t := &trace.Trace{Requests: requests, Header: trace.Header{
		Kind: trace.Kind, Version: trace.Version, BlockTokens: policy.BlockTokens, Tail: trace.TailFresh,
		Time: clock.header(policy.Calendar), Profile: "exact", Counts: c.account.Counts(),
	}}
	if c.size > 0 {
		t.Header.BlockTokens, t.Header.Tail = c.size, trace.TailAsGiven
	}
	if tok != nil {
		t.Header.Tokenizer = trace.Named{Name: tok.Name(), SHA256: tok.SHA256()}
	}
	return t, c.account, nil
}

// ApplyLog is Apply with the header's sources taken from the log.
func ApplyLog(ctx context.Context, log *ingest.Log, policy Policy, tok Tokenizer, key [32]byte) (*trace.Trace, *Account, error) {
	t, a, err := Apply(ctx, log.Records(), policy, tok, key)
	if err == nil {
		t.Header.Sources = log.Sources()
	}
	return t, a, err
}

// input is a record, or the row that could not be one.
type input struct {
	record ingest.Record
	bad    *ingest.RowError
}

// inputs makes values of bad rows and leaves errors that end the log.
func inputs(records iter.Seq2[ingest.Record, error]) iter.Seq2[input, error] {
	return func(yield func(input, error) bool) {
		for r, err := range records {
			var bad *ingest.RowError
			if errors.As(err, &bad) {
				err = nil
			}
			if !yield(input{record: r, bad: bad}, err) {
				return
			}
		}
	}
}
