// Package block turns prompts into chained prefix blocks: lists of integers in
// which two prompts begin with the same k numbers exactly where they begin with
// the same k blocks of tokens, in the same scope.
//
//	Chain       keyed digests of the full blocks of a prompt
//	Interner    digests to integers, as requests stream in input order
//	Renumber    integers by first appearance in order of arrival, after sorting
//	Coarsener   blocks of 512 tokens out of blocks of 16
//	Shared      common prefix of two lists
//
// The integers depend on the pattern of equality alone: digests and key are
// gone when they are written. The partial last block of a prompt gets a fresh
// number that nothing shares (tail: fresh), as engines cache full blocks only.
//
// Units: tokens a block, blocks. Not here: tokenizing, spilling digests to disk,
// lists of ids that a source trace gave (they only pass Renumber).
package block
