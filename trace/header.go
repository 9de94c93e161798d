package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/trace/strictjson"
)

// Kind and Version identify the trace format in the header.
const (
	Kind    = "reprise.trace"
	Version = 1
)

// Header is the JSON under the footer key "reprise": what the trace is, which
// version made it, and from what.
type Header struct {
	Kind        string   `json:"kind"`
	Version     int      `json:"version"`
	Tool        Tool     `json:"tool"`
	Tokenizer   Named    `json:"tokenizer"`
	Template    Named    `json:"template"`
	BlockTokens int      `json:"block_tokens"`
	Tail        Tail     `json:"tail"`
	Time        Time     `json:"time"`
	Profile     string   `json:"profile"`
	Leaves      bool     `json:"leaves"`
	Counts      Counts   `json:"counts"`
	Sources     []Source `json:"sources"`
	DerivedFrom *Derived `json:"derived_from,omitempty"`
	Seed        *uint64  `json:"seed,omitempty"`

	// Counting stands under a footer key of its own; nil when there is none. Write
	// reads it after the requests.
	Counting *Counting `json:"-"`
}

// Tool is the program that wrote an artifact.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
}

// Named is a tokenizer or a chat template by name and SHA-256 (hex). An empty
// name says that there was none.
type Named struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Tail says what the partial last block of a prompt is: a fresh id that
// nothing shares, or an id as the source gave it.
type Tail string

// The two tails.
const (
	TailFresh   Tail = "fresh"
	TailAsGiven Tail = "as_given"
)

// Time describes the clock of the trace. Calendar is none, hour_of_week or
// date; Zero is the calendar's label of offset 0 ("Thu 18:15:46.680590" or
// RFC 3339, in UTC), empty with none. Resolution is the step of the time
// stamps in µs, 0 when there are none.
type Time struct {
	ResolutionUS int64  `json:"resolution_us"`
	Calendar     string `json:"calendar"`
	Zero         string `json:"zero"`
}

// The calendars.
const (
	CalendarNone       = "none"
	CalendarHourOfWeek = "hour_of_week"
	CalendarDate       = "date"
)

// Counts is the account of the rows: Read = Kept + rejected + excluded.
type Counts struct {
	Read     int64            `json:"read"`
	Kept     int64            `json:"kept"`
	Rejected map[string]int64 `json:"rejected"`
	Excluded map[string]int64 `json:"excluded"`
}

// Check reports whether the account adds up.
func (c Counts) Check() error {
	sum := c.Kept
	for _, m := range []map[string]int64{c.Rejected, c.Excluded} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if m[k] < 0 {
				return fmt.Errorf("count of %q is negative", k)
			}
			sum += m[k]
		}
	}
	if sum != c.Read {
		return fmt.Errorf("read %d rows but kept + rejected + excluded is %d", c.Read, sum)
	}
	return nil
}

// Total returns the sum of a map of counts.
func Total(m map[string]int64) int64 {
	var n int64
	for _, v := range m {
		n += v
	}
	return n
}

// Source is one input file.
type Source struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Derived says which artifact a trace was made from, by which verb.
type Derived struct {
	SHA256 string   `json:"sha256"`
	Verb   string   `json:"verb"`
	Args   []string `json:"args"`
}

// Validate checks everything a reader relies on.
func (h Header) Validate() error {
	switch {
	case h.Kind != Kind:
		return fmt.Errorf("kind is %q, want %q", h.Kind, Kind)
	case h.Version != Version:
		return fmt.Errorf("version is %d, this build reads version %d", h.Version, Version)
	case h.BlockTokens < 1:
		return fmt.Errorf("block_tokens is %d", h.BlockTokens)
	case h.Tail != TailFresh && h.Tail != TailAsGiven:
		return fmt.Errorf("tail is %q, want fresh or as_given", h.Tail)
	case !slices.Contains([]string{CalendarNone, CalendarHourOfWeek, CalendarDate}, h.Time.Calendar):
		return fmt.Errorf("calendar is %q, want none, hour_of_week or date", h.Time.Calendar)
	case h.Time.ResolutionUS < 0:
		return errors.New("resolution_us is negative")
	}
	return h.Counts.Check()
}

// encode gives the header's one encoding.
func (h Header) encode() (string, error) {
	if err := h.Validate(); err != nil {
		return "", fmt.Errorf("trace header: %w", err)
	}
	if h.Counts.Rejected == nil {
		h.Counts.Rejected = map[string]int64{}
	}
	if h.Counts.Excluded == nil {
		h.Counts.Excluded = map[string]int64{}
	}
	if h.Sources == nil {
		h.Sources = []Source{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(h); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// decodeHeader refuses unknown and duplicate keys, trailing bytes and what
// Validate refuses.
func decodeHeader(s string) (Header, error) {
	var h Header
	if err := strictjson.Decode([]byte(s), &h); err != nil {
		return Header{}, fmt.Errorf("trace header: %w", err)
	}
	if err := h.Validate(); err != nil {
		return Header{}, fmt.Errorf("trace header: %w", err)
	}
	return h, nil
}
