// Package openai sends planned requests to an OpenAI-compatible endpoint over
// HTTP/1.1 and server-sent events, and says what became of each.
//
//	New        a Config -> Client; the URL may be the base, with /v1, or in full
//	Preflight  one line on what is wrong, the model, the template's tokens
//	           before and behind the text, what tools and schemas add
//	Client     a replay.Sender: Prepare renders the body, Send stamps the answer
//	Parser     server-sent events to the letter of the WHATWG standard
//
// Two engines carry the bytes: our own HTTP/1.1 (raw), and net/http for HTTP/2,
// proxies and odd servers. Each read has one stamp, the kernel's where it gives
// one, else that of the read's return, before anything is parsed; a write is
// stamped as it is handed to the kernel. Several segments that wait to be read
// have the stamp of the last: a stall of the client shows in Delays and the
// heartbeat, not always in the stamps. On Linux one goroutine over an epoll set
// reads many plain connections; with the kernel's stamps and thousands of events
// a second it lets them gather for up to 0.3 ms. An error event, a missing [DONE], a body that is
// cut or an answer that says nothing (mustSay) is never a success, and nothing is sent twice unasked (Wire.Resend). The first token is
// the first event with content, reasoning or a tool call that is not empty.
//
// Units: ns from the run's zero for instants, µs for spans.
//
// Not here: the schedule (replay), HTTP/3, other APIs than chat and completions.
package openai
