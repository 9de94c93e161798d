// Package rows is what containers and mappings agree on: a row has a position,
// is read or told wrong, and gives the columns that a plan asks for.
//
//	Reader     the rows of one file: Next, then Fill; ValueReader, Binder, Closer
//	           and Damager are what some readers can do besides
//	Pos        where a row stands
//	Error      why a row cannot be used; a value, after which reading goes on
//	Plan       the paths that are wanted, as a tree, and a Cell for each
//
// A plan takes the columns out of a JSON value or, put by put, out of the cells
// of a table. It looks into JSON that is kept as text, and into attributes.
//
// Units: positions count from 1, offsets are bytes of the decompressed file.
// An Error names columns and reasons, never a value of a row.
//
// Not done here: file formats, and which column is which field.
package rows
