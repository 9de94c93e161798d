// Package notation reads values out of the ways in which logs write them down,
// and writes them as JSON. A value is always a *fastjson.Value.
//
//	Decoder         lists and objects kept as text: JSON, JSON in a JSON string,
//	                server-sent events, one value a line, Python's repr
//	Python          one Python value; PythonFields, a line of "name: value"
//	Pairs, Dotted   attributes: {key, value} pairs as OTLP writes them, and keys
//	                such as messages.0.role put together again
//	Lookup, List,   what stands at a path, also in JSON that is kept as text, and
//	Names           the paths that there are
//	Text, String,   texts of their own, valid UTF-8, and JSON that others read
//	AppendValue
//
// A text that is none of these is no error: it gives nothing. Depth and numbers
// of entries are bounded.
//
// Not done here: what a value means.
package notation
