// Package columnar reads the rows of Parquet and Arrow files, as JSON values, so
// that mappings see one kind of row.
//
//	IsParquet, IsArrowFile, IsArrowStream        tell a file by its first bytes
//	OpenParquet, OpenArrowFile, OpenArrowStream  give its rows
//
// Of a file only the columns are read that a plan asks for (rows.Binder); those
// that only its path has (date=2026-03-02) are added. What a file claims is
// checked before a library takes memory for it: lengths, counts, offsets and
// depths of Thrift, Flatbuffers and pages. A part that is damaged costs its own
// rows, each counted; no input panics.
//
// Units: instants become text as in ISO 8601, with Z where the file says UTC;
// durations seconds; decimals numbers; bytes that are no text hexadecimal.
//
// Not done here: encryption, writing.
package columnar
