package ingest

import (
	"fmt"

	"reprise/trace"
)

// Pos is where a row stands in its file.
type Pos struct {
	File string
	Line int64 // from 1; 0 when the container has no lines
	Item int64 // row of the file from 1, counting bad rows, not blank lines
	Byte int64 // offset in the decompressed file
}

func (p Pos) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s item %d", p.File, p.Item)
}

// Record is one row of a customer's log. Strings and slices are its own.
type Record struct {
	Pos Pos

	Arrival    trace.Opt[int64] // µs, see Relative
	FirstToken trace.Opt[int64]
	End        trace.Opt[int64]
	Relative   bool // times count from the log's start and not from 1970

	RequestID string
	Parent    string // request id that this one continues
	Session   string
	Client    string
	Model     string
	Adapter   string
	API       trace.API
	OtherAPI  bool // a call that generates no text: embeddings, moderation, ...

	Messages     []Message
	Prompt       string
	PromptTokens []int32 // a prompt sent as token ids
	HasPrompt    bool    // Messages, Prompt or PromptTokens was in the row
	Output       string
	HasOutput    bool
	ToolText     string // definitions of tools, as JSON
	MediaParts   int    // images, audio and files in the prompt

	InputTokens     trace.Opt[int32] // cached ones included
	OutputTokens    trace.Opt[int32] // reasoning included
	CachedTokens    trace.Opt[int32]
	ReasoningTokens trace.Opt[int32]
	MediaTokens     trace.Opt[int32]
	MaxTokens       trace.Opt[int32]

	Stream     trace.Opt[bool]
	Tools      trace.Opt[bool]
	JSONSchema trace.Opt[bool]
	N          trace.Opt[int16]
	Finish     trace.Finish
	Status     trace.Opt[int16]
	TTFT       trace.Opt[int64] // µs
	Duration   trace.Opt[int64] // µs
	ProxyCache trace.Opt[bool]  // answered by a proxy's cache, no engine saw it

	Blocks      []int64 // ids of prefix blocks as the source gave them
	BlockTokens int     // size of those blocks, 0 when there are none
}

// Message is one message of a chat prompt: text parts joined, tool calls as
// their JSON.
type Message struct {
	Role string
	Name string
	Text string
}
