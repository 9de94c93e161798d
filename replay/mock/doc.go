// Package mock is an inference engine model behind an OpenAI-compatible server,
// for tests, teaching and for measuring a client's own error.
//
// Its rooms, each of which knows only those above it:
//
//	engine     the engine and a fleet of them, pure state machines; laws and presets
//	simulate   a load through engines in virtual time, without a server
//	fitlaw     a law fitted to a measured run, by simulation
//	wire       parts of a server of HTTP/1.1, which know nothing of the rest
//	driver     an engine held to the wall clock, and how late it is
//	mock       the server: engine, wire and driver
//
// Steps of a request:
//
//  1. A server reads it: the package's own for HTTP/1.1, of the parts in wire,
//     net/http's for TLS and HTTP/2. From there both share all code up to the
//     bytes of events.
//  2. Its prompt is counted, template tokens included, and hashed into chained
//     blocks of 16 tokens; a Fleet's router gets it.
//  3. The engine says which token comes at what instant.
//  4. The driver, the one goroutine that owns the engine, holds it to the wall
//     clock on an absolute schedule, and writes the tokens to their sockets
//     without ever waiting for a client. Answers with faults, shapes or a buffer
//     have a goroutine each, as all have under net/http.
//
// The driver's lateness is served at /mock/lateness. A request arrives by the
// kernel's receive stamp, where there is one.
//
// Simplifications: those of package engine; an output token is one word,
// sampling parameters are ignored.
//
// Not here: logprobs, n > 1, TLS in the own server.
package mock
