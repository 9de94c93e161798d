package engine

import (
	"fmt"
	"time"
)

// ID names a request inside an engine, from 1 in order of submission.
type ID int64

// Request is what the engine needs to know of a call.
type Request struct {
	Prompt    int32    // tokens, at least 1
	Blocks    []uint64 // chained hashes of the prompt's full blocks (HashBlocks); nil shares nothing
	MaxTokens int32    // most output tokens; 0 for what max_model_len leaves
	MinTokens int32    // fewest output tokens
	IgnoreEOS bool     // exactly MaxTokens
	Draw      uint64   // key of the natural output length: the same key, the same length

	Hit int32 // prompt tokens that count as cached, whatever the cache holds; for requests without Blocks
}

// Finish says how a request ended.
type Finish uint8

// The ends of a request. Going is none yet; Abort is a cancelled one.
const (
	Going Finish = iota
	Stop
	Length
	Abort
	finishes // their number
)

// String is the reason as the API gives it; empty for Going.
func (f Finish) String() string {
	return [...]string{"", "stop", "length", "abort"}[f]
}

// Event is one output token.
type Event struct {
	ID     ID
	At     time.Duration // the instant the law gives it
	N      int32         // output tokens so far, this one included
	Cached int32         // prompt tokens that came from the prefix cache
	Target int32         // output tokens there will be
	Finish Finish        // Going except on the last token
}

// LengthError reports a request that can never fit max_model_len.
type LengthError struct {
	Prompt, MaxTokens, Limit int32
}

// Error is worded as vLLM words it.
func (e *LengthError) Error() string {
	if e.MaxTokens == 0 || e.Prompt >= e.Limit {
		return fmt.Sprintf("This model's maximum context length is %d tokens. However, your request has %d input tokens. Please reduce the length of the input messages.", e.Limit, e.Prompt)
	}
	return fmt.Sprintf("'max_tokens' or 'max_completion_tokens' is too large: %d. This model's maximum context length is %d tokens and your request has %d input tokens (%d > %d - %d).",
		e.MaxTokens, e.Limit, e.Prompt, e.MaxTokens, e.Limit, e.Prompt)
}

// RateError reports an empty token bucket.
type RateError struct {
	RetryAfter time.Duration // until the bucket has a token
}

// Error says when to come again.
func (e *RateError) Error() string {
	return fmt.Sprintf("Rate limit reached for requests per minute. Please try again in %s.", e.RetryAfter.Round(time.Millisecond))
}

// QueueError reports a full waiting queue.
type QueueError struct {
	Waiting int
}

// Error says how many wait.
func (e *QueueError) Error() string {
	return fmt.Sprintf("The waiting queue is full (%d requests). Please retry later.", e.Waiting)
}

// seq is a request in the engine.
type seq struct {
	id        ID
	prompt    int32
	target    int32 // output tokens it will have
	finish    Finish
	cached    int32
	computed  int32 // tokens whose KV is in blocks
	chunk     int32 // tokens that the step in progress computes
	out       int32 // tokens emitted
	hashes    []uint64
	hit       int32 // see Request
	blocks    []int32
	known     int // leading blocks already in the prefix cache
	arrived   time.Duration
	ready     time.Duration // when it can be scheduled
	started   time.Duration // first scheduled; -1 before
	first     time.Duration // first token
	last      time.Duration // last token
	most      int32         // tokens that it may have
	preempted int
	index     int // place in the plain schedule
}

// total is every token it has so far; all but a decode's last need KV.
func (s *seq) total() int32 { return s.prompt + s.out }

// decoding tells a sequence that only lacks the KV of its last token.
func (s *seq) decoding() bool { return s.out > 0 && s.total()-s.computed == 1 }
