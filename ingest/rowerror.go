package ingest

import "fmt"

// Reason is why a row cannot be used. The set is closed; it names columns of
// the account and never anything from the row.
type Reason string

// The reasons of this package.
const (
	LineTooLong  Reason = "line_too_long"
	BadCSV       Reason = "bad_csv"
	FieldCount   Reason = "wrong_field_count"
	BadJSON      Reason = "bad_json"
	NotAnObject  Reason = "not_an_object"
	DuplicateKey Reason = "duplicate_key"
	BadTime      Reason = "bad_time"
	BadNumber    Reason = "bad_number"
	BadType      Reason = "bad_type"
	BadBlocks    Reason = "bad_blocks"
	BadLine      Reason = "bad_line"  // of a text log
	CutShort     Reason = "cut_short" // the file breaks off, or cannot be read from here on
)

// Reasons returns the closed set in a fixed order.
func Reasons() []Reason {
	return []Reason{LineTooLong, BadCSV, FieldCount, BadJSON, NotAnObject, DuplicateKey,
		BadTime, BadNumber, BadType, BadBlocks, CutShort}
}

// RowError is a row that cannot be used. Detail is one of our own phrases.
type RowError struct {
	Pos    Pos
	Reason Reason
	Detail string
}

func (e *RowError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%s: %s", e.Pos, e.Reason)
	}
	return fmt.Sprintf("%s: %s: %s", e.Pos, e.Reason, e.Detail)
}

// bad is a RowError whose position the reader fills in.
func bad(r Reason, detail string) *RowError { return &RowError{Reason: r, Detail: detail} }

// badField is bad with the field named first.
func badField(r Reason, f Field, detail string) *RowError {
	return bad(r, f.String()+" "+detail)
}
