package rows

import "fmt"

// Reason is why a row cannot be used. The set is closed; it names columns of
// the account and never anything from the row.
type Reason string

// The reasons for which containers give no row, or a row has no place for its
// columns. Those for which a field cannot be read are in package ingest.
const (
	LineTooLong  Reason = "line_too_long"
	BadCSV       Reason = "bad_csv"
	FieldCount   Reason = "wrong_field_count"
	BadJSON      Reason = "bad_json"
	NotAnObject  Reason = "not_an_object"
	DuplicateKey Reason = "duplicate_key"
	BadType      Reason = "bad_type"
	BadLine      Reason = "bad_line"  // of a text log
	CutShort     Reason = "cut_short" // the file breaks off, or cannot be read from here on
)

// Error is a row that cannot be used. Detail is one of our own phrases.
type Error struct {
	Pos    Pos
	Reason Reason
	Detail string
}

// Error says where, why and what, on one line.
func (e *Error) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%s: %s", e.Pos, e.Reason)
	}
	return fmt.Sprintf("%s: %s: %s", e.Pos, e.Reason, e.Detail)
}

// Bad is an Error whose position the reader fills in.
func Bad(r Reason, detail string) *Error { return &Error{Reason: r, Detail: detail} }

// MaxMiB is the longest row that is read. A row is in memory about four times
// while it is taken apart, and all must fit into half a gigabyte.
const MaxMiB = 64

// MaxBytes is the same in bytes; longer rows are counted and skipped.
const MaxBytes = MaxMiB << 20

// TooLong is a row of more than MaxBytes bytes.
func TooLong() *Error {
	return Bad(LineTooLong, "64 MiB is the limit; split the row, or leave out what it need not hold")
}
