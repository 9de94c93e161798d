package ingest

import (
	"reprise/ingest/chat"
	"reprise/ingest/rows"
	"reprise/trace"
)

// Record is one request of a customer's log. Strings and slices are its own.
type Record struct {
	Pos  rows.Pos
	Rule Rule // why the row is no part of the workload; empty when it is one

	Arrival    trace.Opt[int64] // µs, see Relative
	FirstToken trace.Opt[int64]
	End        trace.Opt[int64]
	Relative   bool // times count from the log's start and not from 1970

	RequestID  string
	Parent     string // request id that this one continues
	Session    string
	Client     string
	Model      string
	Adapter    string
	API        trace.API
	OtherAPI   bool   // a call that generates no text: embeddings, moderation, ...
	RetryOf    string // the attempts of one call share it
	Span       string // id of the span that recorded the call, and
	ParentSpan string // of the one around it

	Messages     []chat.Message
	Prompt       string
	PromptTokens []int32 // a prompt sent as token ids
	HasPrompt    bool    // Messages, Prompt or PromptTokens was in the row
	Truncated    bool    // the log cut text out of the prompt: it counts less and shares no prefix
	Redacted     bool    // the log put a placeholder in the place of a text; it is absent here
	Output       string
	HasOutput    bool
	ToolText     string // definitions of tools, as JSON
	SchemaText   string // the schema that constrained the answer, as JSON
	MediaParts   int    // images, audio and files in the prompt

	InputTokens     trace.Opt[int32] // cached ones included
	OutputTokens    trace.Opt[int32] // reasoning included
	CachedTokens    trace.Opt[int32]
	ReasoningTokens trace.Opt[int32]
	MediaTokens     trace.Opt[int32]
	MaxTokens       trace.Opt[int32]
	Attempt         trace.Opt[int16] // of a call that was tried more than once, from 0

	Stream     trace.Opt[bool]
	Tools      trace.Opt[bool]
	JSONSchema trace.Opt[bool]
	N          trace.Opt[int16]
	Finish     trace.Finish
	Status     trace.Opt[int16]
	TTFT       trace.Opt[int64] // µs
	Duration   trace.Opt[int64] // µs
	ProxyCache trace.Opt[bool]  // answered by a proxy's cache, no engine saw it

	shown shown // which of the times may be another

	Blocks      []int64 // ids of prefix blocks as the source gave them
	BlockTokens int     // size of those blocks, 0 when there are none
}

// Message is one message of a chat prompt.
type Message = chat.Message

// excluded is a record of a row that a rule keeps out.
func excluded(pos rows.Pos, why Rule) Record {
	r := Record{Pos: pos, Rule: why, OtherAPI: why != ProxyCacheHit}
	if why == ProxyCacheHit {
		r.ProxyCache = trace.Some(true)
	}
	return r
}
