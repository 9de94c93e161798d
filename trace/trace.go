// Package trace holds the type that flows through Reprise: one inference
// request with no customer text in it, and the file that stores a day of them.
//
//	Request   one call: when it arrived, how long it was, what it shared
//	Header    what the trace is, which version made it, and from what
//	Trace     a header and its requests in order of arrival, in memory
//	Write, Open, Load   the file NAME.trace.parquet (artifacts.md §1)
//	Window, Peak, Thin  cuts of a trace, renumbered from zero
//
// Units: times in microseconds from the trace's own zero, lengths in tokens.
// Vocabulary: a request belongs to a session (opaque number) as a turn; its
// prompt is a chain of prefix blocks, numbered by first appearance; an offset
// is the distance of an arrival from the trace's zero.
//
// The package imports no other of ours but the table format. Whoever has a
// Request cannot reach the text that it came from.
package trace

import "reprise/trace/table"

// Opt is a value that may be absent; the zero Opt is absent.
type Opt[T any] = table.Opt[T]

// Some returns a present value.
func Some[T any](v T) Opt[T] { return table.Some(v) }

// Request is one inference call. It holds no string from the customer except
// names that the policy's allow list lets through.
type Request struct {
	ID      int64      // row number, from 0
	T       Opt[int64] // arrival, µs from the trace's zero; absent in every row of a log without times
	Session Opt[int32] // renumbered session
	Turn    Opt[int32] // position in the session, from 0
	Parent  Opt[int64] // id of the request whose context this one continues
	Client  Opt[int32] // renumbered client; local only, never in a file that leaves
	API     API        // which endpoint
	Model   string     // alias or allowed name; empty when unknown
	Adapter string     // alias or allowed name; empty when none
	Input   Opt[int32] // tokens of the rendered prompt
	Output  Opt[int32] // tokens generated, reasoning included
	Cached  Opt[int32] // part of Input that the server reported as cached
	Reason  Opt[int32] // part of Output that the server reported as reasoning
	Media   Opt[int32] // tokens of images or audio in the prompt
	Max     Opt[int32] // cap on output tokens that was asked for
	InChars Opt[int32] // Unicode characters of the prompt
	OutCh   Opt[int32] // Unicode characters of the answer
	From    TokensFrom // where the token counts come from
	Blocks  []int32    // chained prefix blocks, by first appearance
	Prefix  Opt[int32] // token-exact common prefix with the closest earlier request
	Stream  Opt[bool]  // features used
	Tools   Opt[bool]  //
	Schema  Opt[bool]  // a JSON schema constrained the answer
	ToolTok Opt[int32] // tokens that tools add to the prompt
	SchemaT Opt[int32] // tokens of the schema, which it adds where the server shows it to the model
	N       int16      // completions asked for
	Finish  Finish     // why generation ended
	Status  Opt[int16] // HTTP status in the log
	TTFT    Opt[int64] // µs, as the log observed it
	Dur     Opt[int64] // µs, as the log observed it
}

// API is the kind of endpoint that was called.
type API uint8

// The endpoints, by the names of the OpenAI and Anthropic interfaces.
const (
	APIUnknown API = iota
	Chat
	Completions
	Responses
	Messages
)

var apiNames = []string{"unknown", "chat", "completions", "responses", "messages"}

func (a API) String() string { return apiNames[a] }

// TokensFrom says how the token counts of a request came about.
type TokensFrom uint8

// Logged by the server, counted by our tokenizer, or estimated.
const (
	Logged TokensFrom = iota
	Counted
	Estimated
)

var tokensFromNames = []string{"logged", "counted", "estimated"}

func (t TokensFrom) String() string { return tokensFromNames[t] }

// Finish is why generation ended.
type Finish uint8

// The finish classes.
const (
	FinishUnknown Finish = iota
	FinishStop
	FinishLength
	FinishToolCalls
	FinishContentFilter
	FinishError
	FinishCancelled
)

var finishNames = []string{"unknown", "stop", "length", "tool_calls", "content_filter", "error", "cancelled"}

func (f Finish) String() string { return finishNames[f] }

// ParseAPI returns the endpoint of a name; unknown names are APIUnknown.
func ParseAPI(name string) API { return API(index(apiNames, name)) }

// ParseFinish returns the class of a finish reason; unknown ones are
// FinishUnknown.
func ParseFinish(name string) Finish { return Finish(index(finishNames, name)) }

func index(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return 0
}

// Trace is a whole trace in memory, requests in order of arrival.
type Trace struct {
	Header   Header
	Requests []Request
}

// Timed reports whether the requests have arrival times. A trace without any
// request is not timed.
func (t *Trace) Timed() bool { return len(t.Requests) > 0 && t.Requests[0].T.OK }

// FinishNames returns the names of the finish classes in order of value.
func FinishNames() []string { return append([]string(nil), finishNames...) }
