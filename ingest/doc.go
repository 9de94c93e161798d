// Package ingest turns request logs into Records. Its rooms are the data's way:
//
//	source     files, folders, archives, stdin; packing: the text of a log
//	textfile   CSV, JSON in all its forms: rows
//	columnar   Parquet, Arrow: rows
//	loglines   text logs of servers: rows, of the lines of known kinds
//	rows       what they hand on: position, error, and the columns of a plan
//	shape      rows put together or taken apart, where one is not one request
//	schemas    which column is which field: embedded data files, and --map
//	chat       prompts and answers in the shapes of the interfaces
//	usage      what token counts include
//	scalar     times, durations, counts
//	notation   JSON in text, Python's repr, attributes
//
// ingest itself recognises the source and builds the Record: a row with its
// position; it holds customer text and dies in sanitize.
//
// Open looks at the start of every input and says why it takes it for what;
// Log.Records then streams. A row that cannot be used is yielded as *RowError
// and the stream goes on, also where a file breaks off; any other error ends it.
// Nothing is dropped in silence, except blank lines, which are no rows; files of
// a folder that are no logs are listed by Log.Skipped. CSV and JSON lines are
// read in chunks, of which all processors make records; what comes out, and in
// what order, does not depend on their number.
//
// Units: times in µs since 1970 UTC (without a zone UTC), or since the log's own
// start when Relative is set; lengths in tokens. A count that a log does not have
// is absent and never zero. Errors never hold a value of a row.
//
// Not done here: counting tokens, sorting, renaming.
package ingest
