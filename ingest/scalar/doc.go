// Package scalar reads single values as logs write them: times, durations and
// counts, all from text.
//
//	ParseTime    seconds, milli-, micro- and nanoseconds or .NET ticks by their
//	             magnitude or a given unit; RFC 3339 and its relatives; the dates
//	             of web servers, mail, spreadsheets and portals
//	ParseSpan    durations in a unit, or with their own (52.1ms)
//	ParseCount   whole numbers, also as floats, with thousands or a guard
//
// Units: times in µs since 1970 UTC, or since the log's own start when Relative
// is set; durations in µs. What is wrong is told in phrases that follow a
// field's name and never quote the value.
//
// Not done here: zones that a text does not name, and which column is which.
package scalar
