package sanitize

import (
	"fmt"
	"slices"

	"reprise/trace"
	"reprise/trace/strictyaml"
)

// Policy says what may be kept of a log. It is written as YAML.
type Policy struct {
	Tokenizer      string   `yaml:"tokenizer"`
	AllowModels    []string `yaml:"allow_models"`    // names that are kept; others become model1, model2, …
	AllowAdapters  []string `yaml:"allow_adapters"`  // likewise adapter1, …
	Calendar       string   `yaml:"calendar"`        // none, hour_of_week or date
	BlockTokens    int      `yaml:"block_tokens"`    // size of prefix blocks
	IsolateClients bool     `yaml:"isolate_clients"` // the engine shares no prefix between clients
	MaxBad         float64  `yaml:"max_bad"`         // largest share of rejected rows
	KeepDuplicates bool     `yaml:"keep_duplicates"` // copies and attempts stay in as requests
}

// DefaultPolicy keeps no names and no dates.
func DefaultPolicy() Policy {
	return Policy{Tokenizer: "o200k_base", Calendar: trace.CalendarHourOfWeek, BlockTokens: 16, MaxBad: 0.05}
}

// ParsePolicy reads a policy; what it leaves out is as in DefaultPolicy.
func ParsePolicy(data []byte) (Policy, error) {
	p := DefaultPolicy()
	if err := strictyaml.Decode(data, &p); err != nil {
		return Policy{}, fmt.Errorf("policy: %w", err)
	}
	return p, p.Validate()
}

// Validate checks the values.
func (p Policy) Validate() error {
	calendars := []string{trace.CalendarNone, trace.CalendarHourOfWeek, trace.CalendarDate}
	switch {
	case !slices.Contains(calendars, p.Calendar):
		return fmt.Errorf("policy: calendar is %q, want none, hour_of_week or date", p.Calendar)
	case p.BlockTokens < 1 || p.BlockTokens > 1<<16:
		return fmt.Errorf("policy: block_tokens is %d, want 1 to 65536", p.BlockTokens)
	case !(p.MaxBad >= 0 && p.MaxBad <= 1):
		return fmt.Errorf("policy: max_bad is not between 0 and 1")
	}
	return nil
}
