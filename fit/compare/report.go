package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Verdict says what became of a metric.
type Verdict string

// A metric passes, misses, is told without being judged, or cannot be told of
// one of the two.
const (
	Pass    Verdict = "pass"
	Miss    Verdict = "miss"
	Told    Verdict = "told"
	Unknown Verdict = "unknown"
)

// How says how two values are set against each other.
type How string

// A distance is one number for both sides; a ratio is |b/a-1|; a log ratio
// |ln(b/a)|; a difference |b-a|.
const (
	Distance   How = "distance"
	Ratio      How = "ratio"
	LogRatio   How = "log_ratio"
	Difference How = "difference"
)

// Value is a number that may be absent.
type Value struct {
	V  float64
	OK bool
}

// MarshalJSON writes an absent value as null.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.OK {
		return []byte("null"), nil
	}
	return json.Marshal(v.V)
}

func some(v float64) Value {
	return Value{V: v, OK: !math.IsNaN(v) && !math.IsInf(v, 0)}
}

// Metric is one row of the comparison. A and B are the metric of either side,
// both absent for a distance. Off is how far they are apart; Noise the 95th
// percentile of Off between the reference and itself resampled; Baseline Off of
// the Poisson-and-independent one. Of several draws B is the mean, SD their
// standard deviation, and Off that of the mean, or the mean of the distances. Off within Limit, or within one and a half times Noise, passes.
type Metric struct {
	Section  string  `json:"section"`
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	How      How     `json:"how"`
	A        Value   `json:"a"`
	B        Value   `json:"b"`
	SD       Value   `json:"sd"`
	Off      Value   `json:"off"`
	Noise    Value   `json:"noise_p95"`
	Baseline Value   `json:"baseline"`
	Limit    Value   `json:"limit"`
	Verdict  Verdict `json:"verdict"`
	Why      string  `json:"why,omitempty"` // of an unknown or a told one
}

// Side names one of the two workloads.
type Side struct {
	Kind     string `json:"kind"` // trace or spec
	Draws    int    `json:"draws"`
	Requests int64  `json:"requests"`
	SpanS    Value  `json:"span_s"`
}

// Report is the whole comparison.
type Report struct {
	A       Side     `json:"a"`
	B       Side     `json:"b"`
	Limits  Limits   `json:"limits"`
	Metrics []Metric `json:"metrics"`
	Notes   []string `json:"notes,omitempty"`
	// Unmatched are models or adapters where nothing tells which of the one is
	// which of the other: they are compared by rank.
	Unmatched []string `json:"unmatched,omitempty"`
}

// Misses returns the metrics that miss.
func (r *Report) Misses() []Metric {
	var out []Metric
	for _, m := range r.Metrics {
		if m.Verdict == Miss {
			out = append(out, m)
		}
	}
	return out
}

// Judged counts the metrics that have a verdict.
func (r *Report) Judged() int {
	n := 0
	for _, m := range r.Metrics {
		if m.Verdict == Pass || m.Verdict == Miss {
			n++
		}
	}
	return n
}

// Sentence is the verdict in one line.
func (r *Report) Sentence() string {
	missed, judged := len(r.Misses()), r.Judged()
	switch {
	case judged == 0:
		return "nothing could be judged: too few requests, or no measured numbers in common"
	case missed > 0:
		return fmt.Sprintf("no: %d of %d metrics are outside the limits for %s", missed, judged, r.Limits)
	case len(r.Unmatched) > 0:
		return fmt.Sprintf("yes, as far as the aliases of %s tell: all %d metrics are within the limits for %s, shares by rank", strings.Join(r.Unmatched, " and "), judged, r.Limits)
	case r.Limits == Fidelity:
		return fmt.Sprintf("yes: all %d metrics are within the limits for fidelity", judged)
	}
	return fmt.Sprintf("yes: the agreed mix still holds, all %d metrics are within the limits for drift", judged)
}
