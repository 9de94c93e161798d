// Package engine is a model of an inference engine that batches continuously,
// and of a fleet of them behind one endpoint, as pure state machines.
//
// Steps:
//
//  1. A Law says what a step costs and where its limits are; Preset has laws by
//     name, EncodeLaw and DecodeLaw are the law's file.
//  2. Submit brings a request in: its prompt tokens, their chained blocks of
//     BlockTokens (HashBlocks), how many output tokens at most.
//  3. Step brings the engine up to a time by one instant at most. In each step the
//     running decodes come first, then prefill in chunks up to a token budget. It
//     lasts max(floor, base + decode·n + kv·ΣKV + prefill·tokens) × jitter, and
//     every sequence whose KV is complete emits one token, an Event, at its end.
//     Under a Plain law there are no steps, but an exact schedule.
//  4. A Fleet routes requests to replicas, which join and leave at given instants.
//
// Time is a time.Duration since the engine's zero, given by the caller; figures
// of a Law are in microseconds, Stats in seconds. The same calls with the same
// times and seed give the same events.
//
// Simplifications against vLLM: all blocks of a prompt are taken on admission
// (vLLM takes them chunk by chunk), and generated tokens are not in the prefix
// cache.
//
// Not here: a clock, goroutines, HTTP, text. One goroutine uses an Engine.
package engine
