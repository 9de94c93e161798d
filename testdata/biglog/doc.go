// Command biglog makes logs of any size and measures reprise ingest on them.
//
//	biglog -write jsonl -size 10GB > big.jsonl     a log, of a seed, to stdout
//	biglog -measure ./reprise -size 1GB            every measurement, as a table
//
// The JSON lines have OpenAI's shape, about 3.6 KB each: conversations that
// begin with one of a few system prompts and repeat their history turn by turn,
// several thousand at a time, so that most of a prompt was in an earlier one.
// The CSV has the columns of the Azure LLM inference trace, the Parquet file the
// same as the JSON lines.
//
// A measurement runs the binary once on a file on disk and prints its wall
// time, what it read a second, and the most memory it had, as the kernel says.
package main
