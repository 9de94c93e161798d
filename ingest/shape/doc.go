// Package shape makes requests of rows, for sources in which a row is not one
// request. A File is the part of a mapping that says how:
//
//	lines          which lines of a text log are rows (package loglines)
//	join           rows of one request that stand apart: its start, its end
//	conversation   a row that holds a whole conversation: every answer is one
//	transcript     one row an event: what was said before an answer is its prompt
//	chain          rows that name the one before: the session is the chain's root
//
// Of puts a Shaper behind the rows of a file; what it gives are rows again, whose
// columns a mapping names. A Shaper lives as long as the log, as partners may
// stand in other files; Rest gives what still waits at the end.
//
// What is held is bounded: when it is too much, what waits longest goes first,
// and prompts whose beginning was dropped are marked as cut.
//
// Not done here: which columns are which fields.
package shape
