package bundle

import (
	"fmt"
	"slices"

	"reprise/trace"
	"reprise/trace/spec"
	"reprise/trace/strictjson"
)

// AuditKind and AuditVersion identify the format of audit.json.
const (
	AuditKind    = "reprise.audit"
	AuditVersion = 1
)

// Audit says what leaves and what could be told from it, measured on the bytes
// that leave. It holds counts only, no example values.
type Audit struct {
	Kind        string           `json:"kind"`
	Version     int              `json:"version"`
	Tool        trace.Tool       `json:"tool"`
	Profile     string           `json:"profile"`
	K           int              `json:"k"`
	U           int              `json:"u"`
	UserRule    string           `json:"user_rule"` // how u was checked
	Calendar    string           `json:"calendar"`
	Files       []AuditFileEntry `json:"files"`
	Fields      []Field          `json:"fields"`
	Reident     Reident          `json:"reidentification"`
	Counts      AuditCounts      `json:"counts"`
	HeldBack    []string         `json:"held_back"`
	Searched    []Search         `json:"searched"`
	NotSearched []Gap            `json:"not_searched"`
	Statement   []string         `json:"statement"`
}

// AuditFileEntry is a data file that leaves; Rows counts requests.
type AuditFileEntry struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Rows   int64  `json:"rows"`
}

// Field is a column of the trace or a key path of the spec ([] stands for the
// entries of a list). SmallestGroup is the number of rows that share a column's
// rarest value, 0 in a spec.
type Field struct {
	File          string `json:"file"`
	Name          string `json:"name"`
	Type          string `json:"type"`
	Present       int64  `json:"present"`
	Distinct      int64  `json:"distinct"`
	SmallestGroup int64  `json:"smallest_group"`
}

// Reident holds the figures of re-identification. Where rows leave, groups are
// of rows with the same (input, output) lengths; where none do, the smallest
// group is the smallest number of requests behind a published statistic, and 0
// when a person stated all of them.
type Reident struct {
	Rows              int64    `json:"rows"`
	UniqueInOut       spec.Num `json:"unique_in_out"` // share of rows
	SmallestGroup     int64    `json:"smallest_group"`
	DistinctTimes     int64    `json:"distinct_times"`
	Sessions          int64    `json:"sessions"`
	SingletonSessions int64    `json:"singleton_sessions"`
}

// AuditCounts is the account of the log's rows. Clients is absent where the
// log names none, or fewer than u.
type AuditCounts struct {
	Read     int64            `json:"read"`
	Kept     int64            `json:"kept"`
	Rejected map[string]int64 `json:"rejected"`
	Excluded map[string]int64 `json:"excluded"`
	Clients  *int64           `json:"clients,omitempty"`
}

// Search says what was looked for, where, and how often it was found.
type Search struct {
	What  string `json:"what"`
	Where string `json:"where"`
	Found int64  `json:"found"`
}

// Gap says what was not looked at, and why.
type Gap struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// DecodeAudit reads an audit and refuses whatever Write would not have
// written: unknown keys, another encoding, negative counts.
func DecodeAudit(data []byte) (*Audit, error) {
	var a Audit
	if err := strictjson.DecodeCanonical(data, &a); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if err := a.check(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return &a, nil
}

func (a *Audit) check() error {
	switch {
	case a.Kind != AuditKind:
		return fmt.Errorf("kind is %q, want %q", a.Kind, AuditKind)
	case a.Version != AuditVersion:
		return fmt.Errorf("version is %d, this build reads version %d", a.Version, AuditVersion)
	case a.K < 1 || a.U < 1:
		return fmt.Errorf("k is %d and u is %d, want 1 or more", a.K, a.U)
	case !(a.Reident.UniqueInOut >= 0 && a.Reident.UniqueInOut <= 1):
		return fmt.Errorf("reidentification.unique_in_out is not a share")
	}
	counts := []int64{a.Reident.Rows, a.Reident.SmallestGroup, a.Reident.DistinctTimes, a.Reident.Sessions,
		a.Reident.SingletonSessions, a.Counts.Read, a.Counts.Kept}
	for _, f := range a.Files {
		counts = append(counts, f.Bytes, f.Rows)
	}
	for _, f := range a.Fields {
		counts = append(counts, f.Present, f.Distinct, f.SmallestGroup)
	}
	for _, s := range a.Searched {
		counts = append(counts, s.Found)
	}
	if slices.Min(counts) < 0 {
		return fmt.Errorf("a count is negative")
	}
	return nil
}

func writeAudit(path string, a *Audit) error {
	raw, err := strictjson.Encode(a)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if _, err := DecodeAudit(raw); err != nil {
		return err
	}
	return createBytes(path, raw)
}
