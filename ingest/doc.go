// Package ingest turns request logs into Records, one row at a time.
//
//	inputs     files, folders, patterns, tar and zip archives, stdin
//	bytes      plain or packed (gzip, zstd, bzip2, snappy); hashed as they are read
//	container  CSV, JSON in all its forms, Parquet, Arrow: rows with named columns
//	schema     which column is which field: embedded data files and --map
//	Record     one row with its position; holds customer text, dies in sanitize
//
// Open looks at the start of every input, picks the container and the schema
// and says why; Log.Records then streams. A row that cannot be used is yielded
// as *RowError and the stream goes on, also where a file breaks off; any other
// error ends it. Nothing is dropped in silence, except blank lines, which are no
// rows; files of a folder that are no logs are listed by Log.Skipped. CSV and
// JSON lines are read in chunks of text, of which all processors make records;
// what comes out, and in what order, does not depend on their number.
//
// Units: times in µs since 1970 UTC, or since the log's own start when Relative
// is set; lengths in tokens. A time without zone is UTC. A count that a log
// does not have is absent and never zero.
//
// Errors name files, positions, columns and reasons, never a value of a row.
//
// Not done here: counting tokens, sorting, renaming.
package ingest
