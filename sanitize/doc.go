// Package sanitize turns a customer's Records into Requests that hold no text.
//
//	Record  --clean-->  item  --collect-->  Request
//
// clean runs on all processors, batch by batch and in order: it renders the
// prompt, tokenizes it, counts, and makes keyed digests of its blocks; the text
// ends there. collect gives numbers for names and digests, sorts by arrival,
// and numbers everything anew by first appearance, so that what is written
// depends on the log and the policy and neither on the key nor on the number of
// processors.
//
// Every row is accounted for: read = kept + rejected by reason + excluded by
// rule. Failed requests are kept as failures.
//
// Prompt rendering: tools first, then each message as marker, role, marker,
// content, marker, and three markers that begin the answer: the count that
// OpenAI publishes for its chat models. Each piece is tokenized by itself, so
// equal leading messages are equal leading tokens. Other templates frame with
// other counts; where the log has the server's count, that is used.
//
// Units: µs, tokens. Not done here: detectors, leakage profiles, redacted text.
package sanitize
