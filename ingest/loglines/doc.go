// Package loglines reads the lines of servers' text logs as rows.
//
//	Kind, Compile   what a kind of line looks like: a pattern whose named groups
//	                are columns, and how to read them
//	Sniff           whose lines the start of a text has
//	Open            the rows: of every line that a Set knows, its columns as JSON
//	                under the name of its kind
//
// A line is first taken out of what containers, loggers and tools put around
// it; the time that they give is the column wrapped_at. Lines of no kind
// (banners, statistics) are no rows and are counted.
//
// Units: times become ISO 8601, or seconds from the start of a year that nobody
// knows; durations become seconds.
//
// Not done here: which sources there are, and joining lines to requests.
package loglines
