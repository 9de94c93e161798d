package ingest

import "reprise/ingest/rows"

// The position of a row, and why it cannot be used, are told in the words of the
// containers that read it.
type (
	Pos      = rows.Pos
	Reason   = rows.Reason
	RowError = rows.Error
)

// MaxRowMiB is the longest row that is read.
const MaxRowMiB = rows.MaxMiB

// The reasons for which a field of a row cannot be read.
const (
	BadTime   Reason = "bad_time"
	BadNumber Reason = "bad_number"
	BadBlocks Reason = "bad_blocks"
)

// Reasons returns the closed set in a fixed order.
func Reasons() []Reason {
	return []Reason{rows.LineTooLong, rows.BadLine, rows.BadCSV, rows.FieldCount, rows.BadJSON, rows.NotAnObject, rows.DuplicateKey,
		BadTime, BadNumber, rows.BadType, BadBlocks, rows.CutShort}
}

// badField is bad with the field named first.
func badField(r Reason, f Field, detail string) *RowError {
	return rows.Bad(r, f.String()+" "+detail)
}
