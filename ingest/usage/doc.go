// Package usage makes token counts comparable: the input is all that was read,
// cached or not, the output all that was generated, reasoning included.
//
//	Tokens   the counts of a row as its log gives them
//	Votes    what the first rows of a source show of what its counts include, by
//	         provider and column
//	Settle   the counts as they are meant: by the row's own total, else by votes,
//	         else by the mapping's word
//	Notes    in how many rows something was added up or inferred
//
// Not done here: reading the counts, and what is too large to be one.
package usage
