// Package spill sorts and numbers more records than memory holds, in temporary
// files.
//
//	Space     makes the files; a file has no name from the start on, so that
//	          nothing is left behind whatever ends the process
//	Sorter    records in the order of their keys; in memory while they fit
//	Numbers   keys to 0, 1, 2, … by first appearance in a sequence
//	Latest    for each use of a key, where it was defined last before
//
// Numbers does not sort keys. It deals them out to partitions by their bits; a
// partition's keys fit into a table that knows where each stood first, and what
// comes out, (position, first position), is in order of position already. As a
// new key's number is its position less the repeats before it, a merge of the
// repeats by position with the repeats by first position gives all numbers.
//
// Memory is bounded by what each is given, whatever the number of records;
// files are written and read from start to end, in records of some tens of
// bytes. Everything is stable, so that the result does not depend on when
// memory ran out.
//
// The package knows nothing of what records mean. Its callers put digests and
// counts into them, never text.
package spill
