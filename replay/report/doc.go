// Package report turns the results of replays into an answer: metrics, a
// verdict on every agreed limit, and pages for people and programs.
//
//	Metrics   accumulates results; any split of them merges to the same
//	Summary   what one load point of one run came to (finished, plain data)
//	Report    the summaries of all inputs, the headline and the exit code
//	Text, JSON, HTML   render the same Report
//
// Percentiles are type 1 (an observed value, never interpolated) and stand
// with the number of requests behind them; one that fewer than ten requests
// lie beyond is not given. There are no means. Latency runs from the planned
// instant; the same from the instant of sending stands beside it, and what lies
// between is the client's lateness. Only requests of the measured phase count,
// only answered ones have a latency, and planned = ok + every other class.
//
// Units: nanoseconds inside, milliseconds in reports, tokens, requests/s.
// Non-goals: reading results from disk (package replay), and choosing limits.
package report
