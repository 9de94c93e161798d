// Package wire has the parts of a server of HTTP/1.1 that streams to thousands
// of clients from one goroutine: what is read, and bytes that are written
// without ever waiting for a client.
//
// Steps:
//
//  1. StampReader reads a connection together with the kernel's receive stamps,
//     which a listener under StampListener asks for.
//  2. ParseHead takes a request's head off the bytes, Body its body, however
//     they are cut. Both are strict (RFC 9112): an Error ends the connection.
//  3. Outbox hands bytes to the kernel at once; what that does not take waits,
//     and a goroutine writes it.
//  4. Frame, Trim and ShortChunk make chunks of a body's pieces.
//
// Sizes are in bytes. Instants that an Outbox is given are handed back to its
// caller, who alone knows their zero.
//
// Not here: routes, answers, deadlines, TLS, HTTP/2, trailers (they are read and
// dropped).
package wire
