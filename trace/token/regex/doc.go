// Package regex interprets the regular expressions by which tokenizer files split
// text: the part of Oniguruma's syntax that they use and that means the same in
// every engine, look-ahead of one character included.
//
//	Compile   reads a pattern, or says which of its features is not here
//	All       where its matches are
//
// Alternatives are tried in order, as Oniguruma does; the machine remembers the
// states that failed, so that time is linear in the text for any pattern.
//
// Units: bytes of valid UTF-8.
//
// Not done here: groups that capture, look-behind, and the patterns for which
// package token has scanners, which are some times faster.
package regex
