// Package mock is an inference engine model behind an OpenAI-compatible server,
// for tests, teaching and for measuring a client's own error.
//
// Steps of a request:
//
//  1. The handler decodes it, counts the prompt with a Counter, adds the chat
//     template's tokens and hashes the prompt into chained blocks of 16 tokens.
//  2. The driver, the one goroutine that owns the engine, submits it.
//  3. The Engine batches continuously: in each step the running decodes come
//     first, then prefill in chunks up to a token budget. A step lasts
//     max(floor, base + decode·n + kv·ΣKV + prefill·tokens) × jitter, and every
//     sequence whose KV is complete emits one token at its end.
//  4. The tokens reach the stream's own buffer and its goroutine writes them.
//
// The Engine is a pure state machine: time is a time.Duration since its zero,
// given by the caller, and it knows no HTTP. The driver holds it to the wall
// clock on an absolute schedule, so lateness never accumulates; its size is
// served at /mock/lateness.
//
// Simplifications against vLLM: all blocks of a prompt are taken on admission
// (vLLM takes them chunk by chunk), generated tokens are not in the prefix
// cache, an output token is one word, sampling parameters are ignored.
//
// Not here: faults, buffering proxies, recording, logprobs, n > 1, HTTP/2.
package mock
