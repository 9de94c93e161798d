package simulate

import (
	"math"
	"slices"
	"time"

	"reprise/replay/mock/engine"
)

// Forecast sums up outcomes. Quantiles are of type 1 (inverse empirical
// distribution), over the requests that were answered.
type Forecast struct {
	Requests int `json:"requests"`
	Refused  int `json:"refused"`

	SpanS        float64   `json:"span_s"`         // from the first arrival to the last token
	OutputPerS   float64   `json:"output_per_s"`   // output tokens over the span
	RequestsPerS float64   `json:"requests_per_s"` // answers over the span
	CachedShare  float64   `json:"cached_share"`   // of the prompt tokens of answered requests
	TTFT         Quantiles `json:"ttft_ms"`
	TPOT         Quantiles `json:"tpot_ms"`
	E2E          Quantiles `json:"e2e_ms"`
}

// Quantiles of a time, milliseconds; zero when there is none.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// Sum is the forecast that outcomes of a load make.
func Sum(in []Timed, out []Outcome) Forecast {
	f := Forecast{Requests: len(out)}
	var ttft, tpot, e2e []float64
	var tokens, prompt, cached int64
	var end time.Duration
	for k := range out {
		o := &out[k]
		if o.Finish == engine.Going {
			f.Refused++
			continue
		}
		ttft, e2e = append(ttft, ms(o.TTFT)), append(e2e, ms(o.E2E))
		if o.Tokens > 1 {
			tpot = append(tpot, ms(o.TPOT()))
		}
		tokens, prompt, cached = tokens+int64(o.Tokens), prompt+int64(in[k].Prompt), cached+int64(o.Cached)
		end = max(end, in[k].At+o.E2E)
	}
	if len(ttft) > 0 {
		f.SpanS = (end - in[0].At).Seconds()
		f.OutputPerS, f.RequestsPerS = float64(tokens)/f.SpanS, float64(len(ttft))/f.SpanS
		f.CachedShare = float64(cached) / float64(prompt)
	}
	f.TTFT, f.TPOT, f.E2E = quantilesOf(ttft), quantilesOf(tpot), quantilesOf(e2e)
	return f
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func quantilesOf(v []float64) Quantiles {
	slices.Sort(v)
	return Quantiles{P50: Quantile(v, 0.5), P90: Quantile(v, 0.9), P95: Quantile(v, 0.95), P99: Quantile(v, 0.99)}
}

// Quantile is the inverse of the empirical distribution of ascending values
// (type 1); 0 of none.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted), max(1, int(math.Ceil(p*float64(len(sorted))))))-1]
}
