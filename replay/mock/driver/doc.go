// Package driver holds an engine to the wall clock.
//
// Steps:
//
//  1. New starts the one goroutine that owns the engine; others hand it functions
//     (Post) and requests (Offer, Submit).
//  2. It sleeps until the engine's next instant on an absolute schedule, by a
//     timerfd where there is one (Waiter), or until something is handed to it.
//  3. It gives each token to the Sink of its request. A Sink that runs on that
//     goroutine must not block; a Mailbox is one for readers with goroutines of
//     their own, however slow.
//
// Instants are time.Durations since Zero. How late each token was against its
// instant is counted: Late, in microseconds.
//
// Not here: requests of clients, bytes, sockets.
package driver
