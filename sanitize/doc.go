// Package sanitize turns a customer's Records into Requests that hold no text.
//
//	Record  --clean-->  item  --collect-->  Rows  --number-->  Request
//
// clean runs on all processors, batch by batch and in order: it renders the
// prompt, tokenizes it, counts, and makes keyed digests of its blocks and of all
// names; the text ends there. collect sorts the rows by arrival, in memory or in
// nameless temporary files (package spill), leaves out copies and attempts that
// another followed, and then numbers everything by first appearance, so that
// what is written depends on the log and the policy and neither on the key, the
// memory nor the number of processors.
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
// Units: µs, tokens. Not done here: detectors, leakage profiles, redacted text,
// token-exact shared prefixes (a keyed digest of every token would cost more than
// the tokenizer): prefix_tokens stays null, and blocks tell it to within one.
package sanitize
