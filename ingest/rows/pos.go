package rows

import "fmt"

// Pos is where a row stands in its file.
type Pos struct {
	File string
	Line int64 // from 1; 0 when the container has no lines
	Item int64 // row of the file from 1, counting bad rows, not blank lines
	Byte int64 // offset in the decompressed file
	Sub  int64 // request of the row from 1; 0 in rows that are one request
}

// String is file:line, or the number of the item, for errors.
func (p Pos) String() string {
	at := fmt.Sprintf("%s item %d", p.File, p.Item)
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if p.Sub > 0 {
		at += fmt.Sprintf(" request %d", p.Sub)
	}
	return at
}
