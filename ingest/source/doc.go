// Package source gives the text of a log, wherever and however it is kept.
//
//	Expand    files, folders and patterns: which files to read
//	New,      one input: hashed as it is read, decompressed (gzip, zstd, bzip2,
//	Open      snappy, several times over), UTF-16 as UTF-8
//	Archive   the entries of a tar or zip, each a Source again
//
// The start of a Source can be looked at with Peek and is then read again. What
// grows out of all proportion when it is unpacked is stopped (IsBomb), a file
// that is cut short or altered is told from a failing disk (IsBroken).
//
// Units: bytes. Errors are one line and name the file, how far it was read and
// what to do.
//
// Not done here: what the text is.
package source
