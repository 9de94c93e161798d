// Package textfile reads rows that are kept as text.
//
//	OpenCSV        tables: any usual separator, quotes, with a header or without
//	OpenJSONL      one object a line, or several
//	OpenJSON       arrays, pages with a list, objects one after the other
//	OpenCassette   recordings of HTTP exchanges in YAML
//	Lines          the lines of a text, for kinds of log that are no table
//
// IsJSONL, IsJSON and IsCassette tell a file by its start; any text may be CSV.
// An opener takes a Source, for its name, and a reader: all of the text, or the
// start that was looked at. CSV and JSON lines are Chunked: their rows can be
// read as text by one goroutine and taken apart by others.
//
// A row that is too long or damaged costs itself alone, as far as the format
// lets one find the next.
//
// Units: bytes; lines and rows from 1.
//
// Not done here: packing, character sets, and which column is which.
package textfile
