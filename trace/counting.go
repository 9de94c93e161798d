package trace

import (
	"encoding/json"
	"fmt"
)

// countingKey is the footer key of Counting. It is no part of the header, which
// older readers decode strictly: they do not see it.
const countingKey = "reprise.counting"

// Counting says how the tokens of a local trace were checked, what another
// tokenizer counts for the same texts, which times are unsure, and what keeps
// prompts from being shared. No trace that leaves has it.
type Counting struct {
	Check *Check `json:"check,omitempty"`
	Also  *Also  `json:"also,omitempty"`

	// Clock are requests whose time was told by a clock that was put back or
	// forward, as far as nothing says which time it was; nil for none.
	Clock *ClockChange `json:"clock_change,omitempty"`

	// Broken are prompts of different kinds: but for further fields of the same
	// prompts (Behind), none counts twice.
	Broken []BrokenPrefix `json:"broken_prefixes,omitempty"`
	// Only is how earlier traces told the one kind that they told.
	Only *BrokenPrefix `json:"broken_prefix,omitempty"`
}

// ClockChange counts requests in an hour that a zone's clock showed twice, taken
// as the first time, and in one that it did not show at all.
type ClockChange struct {
	Either  int64 `json:"either"`
	Skipped int64 `json:"skipped"`
}

// BrokenPrefix says that prompts have a long stretch in common and do not share
// it with most others, since a field that changes stands before it. Now and
// Would are means over those prompts but the first, in tokens: a value that a
// few of them have in common is shared by all of these but one.
type BrokenPrefix struct {
	Prompts int64   `json:"prompts"`
	Sampled int64   `json:"sampled"`
	Share   float64 `json:"share"` // of the sample: prompts with this stretch behind this field
	Now     int64   `json:"tokens_shared_now"`
	Would   int64   `json:"tokens_if_moved"`
	At      int64   `json:"at_token"` // where the field begins

	// Behind says that the field stands behind that of the row before, in the
	// same prompts or some of them: Now is what they share once that one has
	// moved, Would once both have.
	Behind bool `json:"behind_the_field_before,omitempty"`
}

// Check is a comparison with another implementation of the tokenizer.
type Check struct {
	By     string `json:"by"`
	Texts  int64  `json:"texts"`  // sampled from the log
	Differ int64  `json:"differ"` // with other ids
}

// Also is the count by a second tokenizer, of the requests whose text both
// counted.
type Also struct {
	Tokenizer Named    `json:"tokenizer"`
	Template  Named    `json:"template"`
	Input     Compared `json:"input"`
	Output    Compared `json:"output"`
}

// Compared sets two counts of the same texts side by side.
type Compared struct {
	Requests int64   `json:"requests"`
	Tokens   int64   `json:"tokens"` // by the trace's tokenizer
	Also     int64   `json:"also"`   // by the second
	Ratios   []Ratio `json:"ratios"` // of also to tokens
}

// Ratio is a quantile of type 1 over requests.
type Ratio struct {
	P     float64 `json:"p"`
	Value float64 `json:"value"`
}

// encodeCounting gives the footer's text; empty when there is nothing to say.
func encodeCounting(h Header) (string, error) {
	if h.Counting == nil || h.Leaves {
		return "", nil
	}
	data, err := json.Marshal(h.Counting)
	return string(data), err
}

func decodeCounting(text string) (*Counting, error) {
	c := new(Counting)
	if err := json.Unmarshal([]byte(text), c); err != nil {
		return nil, fmt.Errorf("trace footer %s: %w", countingKey, err)
	}
	if c.Only != nil && len(c.Broken) == 0 {
		c.Broken = []BrokenPrefix{*c.Only}
	}
	c.Only = nil
	return c, nil
}
