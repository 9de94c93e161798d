// Package mock is an inference engine model behind an OpenAI-compatible server,
// for tests, teaching and for measuring a client's own error.
//
// Steps of a request:
//
//  1. A server reads it: the package's own for HTTP/1.1 (wire), net/http's for
//     TLS and HTTP/2. From there both share all code up to the bytes of events.
//  2. Its prompt is counted, template tokens included, and hashed into chained
//     blocks of 16 tokens; a Fleet's router or the one Engine gets it.
//  3. The Engine batches continuously: in each step the running decodes come
//     first, then prefill in chunks up to a token budget. A step lasts
//     max(floor, base + decode·n + kv·ΣKV + prefill·tokens) × jitter, and every
//     sequence whose KV is complete emits one token at its end.
//  4. The driver, the one goroutine that owns the engine, writes the tokens to
//     their sockets without ever waiting for a client. Answers with faults,
//     shapes or a buffer have a goroutine each, as all have under net/http.
//
// The Engine is a pure state machine: time is a time.Duration since its zero,
// given by the caller. The driver holds it to the wall clock on an absolute
// schedule; its lateness is served at /mock/lateness. A request arrives by the
// kernel's receive stamp, where there is one.
//
// Simplifications against vLLM: all blocks of a prompt are taken on admission
// (vLLM takes them chunk by chunk), generated tokens are not in the prefix
// cache, an output token is one word, sampling parameters are ignored.
//
// Not here: logprobs, n > 1, TLS in the own server.
package mock
