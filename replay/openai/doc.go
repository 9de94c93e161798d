// Package openai sends planned requests to an OpenAI-compatible endpoint over
// HTTP/1.1 and server-sent events, and says what became of each.
//
//	New        a Config -> Client; the URL may be the base, with /v1, or in full
//	Preflight  one line on what is wrong, the model, the template's tokens
//	           before and behind the text, what tools and schemas add
//	Client     a replay.Sender: Prepare renders the body, Send stamps the answer
//	Parser     server-sent events to the letter of the WHATWG standard
//
// Stamps are taken once a read, right after the read of the socket returns and
// before anything is parsed. An error event, a missing [DONE] or a body that is
// cut is never a success, and nothing is ever sent twice. The first token is
// the first event with content, reasoning or a tool call that is not empty.
//
// Units: ns from the run's zero for instants, µs for spans.
//
// Not here: the schedule (replay), HTTP/2, other APIs than chat and completions.
package openai
