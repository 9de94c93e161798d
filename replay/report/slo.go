package report

import (
	"fmt"
	"math"
	"strings"

	"reprise/trace/spec"
)

// SLOResult is one agreed limit against what was measured. MS is the
// percentile over answered requests; WithFailures is the same with every
// failed request counted as infinitely late, and decides as well. Within of N
// values were at most the limit.
type SLOResult struct {
	Text         string   `json:"text"` // p95 TTFT <= 800 ms (client)
	Metric       string   `json:"metric"`
	Percentile   float64  `json:"percentile"`
	ThresholdMS  float64  `json:"threshold_ms"`
	MeasuredAt   string   `json:"measured_at"`
	Verdict      Verdict  `json:"verdict"`
	Reason       string   `json:"reason"`
	MS           *float64 `json:"measured_ms"`
	MarginMS     *float64 `json:"margin_ms"`        // threshold − measured: negative is how much it was missed by
	LessMS       float64  `json:"less_by_up_to_ms"` // what the client may have added to the measured
	MoreMS       float64  `json:"more_by_up_to_ms"` // and what it may have taken away
	N            int64    `json:"n"`
	Within       int64    `json:"within"`
	Failed       int64    `json:"failed"`
	WithFailures *float64 `json:"with_failures_ms"` // nil without failures, or when infinite
	Infinite     bool     `json:"with_failures_infinite"`
}

// judge compares one limit with the values d; unit is ns in one unit of d, and
// failed the number of requests that got no answer.
func judge(s spec.SLO, d distribution, unit, failed int64) SLOResult {
	p, limit := float64(s.Percentile), int64(math.Round(float64(s.ThresholdMS)*1e6))
	r := SLOResult{Text: s.String(), Metric: s.Metric, Percentile: p, ThresholdMS: float64(s.ThresholdMS),
		MeasuredAt: s.MeasuredAt, N: d.len(), Within: d.within(limit / unit), Failed: failed}
	v, ok := at(d, p)
	if !ok && failed > 0 {
		r.Verdict, r.Infinite, r.Reason = Missed, true, fmt.Sprintf("no request was answered with this value: all %s failed", count(failed))
		return r
	}
	if !ok {
		return r.cannot("no answered request has this value")
	}
	r.MS = ms(v * unit)
	r.MarginMS = ms(limit - v*unit)
	all := r.N + failed
	worst := v * unit
	switch k := rank(p, all); {
	case failed == 0:
	case k > r.N:
		r.Infinite = true
	default:
		worst = d.nth(k) * unit
		r.WithFailures = ms(worst)
	}
	return r.decide(v*unit <= limit, !r.Infinite && worst <= limit, all-r.Within)
}

// judgeUnsure judges a limit on d when unknown answers have a value that nobody
// knows: the verdict must be the same were they all within it or all over.
func judgeUnsure(s spec.SLO, d sorted, failed, unknown int64) SLOResult {
	if unknown == 0 {
		return judge(s, d, 1, failed)
	}
	best := judge(s, append(make(sorted, unknown), d...), 1, failed)
	worst := judge(s, d, 1, failed+unknown)
	r := judge(s, d, 1, failed)
	if best.Verdict == worst.Verdict && best.Verdict != CannotSay && d.len() > 0 {
		r.Verdict, r.Reason = best.Verdict, worst.Reason
		return r
	}
	return r.withhold(fmt.Sprintf("the time per token of %s is not known: they came all at once, in too few events, or without a count of tokens that can be", plural(unknown, "answer")))
}

// decide takes whether the percentile holds over answered requests and over
// all, and how many lie over the limit. Ten requests must lie beyond the
// percentile to call it met, and ten over the limit to call it missed.
func (r SLOResult) decide(answered, everyone bool, over int64) SLOResult {
	all := r.N + r.Failed
	switch {
	case everyone && supported(r.Percentile, all):
		r.Verdict, r.Reason = Met, "met by "+msText(*r.MarginMS)
	case !everyone && (over >= beyond || r.Percentile >= 100):
		r.Verdict = Missed
		if answered {
			r.Reason = fmt.Sprintf("met over answered requests, missed when the %s count as infinitely late", plural(r.Failed, "failed request"))
			return r
		}
		r.Reason = "missed by " + msText(-*r.MarginMS)
	default:
		r.MS, r.MarginMS, r.WithFailures = nil, nil, nil
		return r.cannot(tooFew(r.Percentile, all))
	}
	return r
}

func (r SLOResult) cannot(why string) SLOResult {
	r.Verdict, r.Reason = CannotSay, why
	return r
}

// withhold keeps the limit and drops every measured number.
func (r SLOResult) withhold(why string) SLOResult {
	r.MS, r.MarginMS, r.WithFailures, r.Infinite = nil, nil, nil, false
	return r.cannot(why)
}

// verdictOf joins the verdicts of all limits: one missed is missed, then one
// that cannot be said.
func verdictOf(slo []SLOResult) Verdict {
	v := NoLimits
	for _, r := range slo {
		switch {
		case r.Verdict == Missed:
			return Missed
		case r.Verdict == CannotSay, v == NoLimits:
			v = r.Verdict
		}
	}
	return v
}

// limits are the limits on a single request, ns; absent where there is none.
type limits struct{ ttft, tpot, e2e int64 }

// requestLimits takes from each metric the limit at its highest percentile,
// since that is the one meant for nearly every request.
func requestLimits(slo []spec.SLO) (l limits, names []string, note string) {
	l = limits{absent, absent, absent}
	best := map[string]spec.SLO{}
	for _, s := range slo {
		if s.MeasuredAt == "server" {
			note = "limits measured at the server are not part of it"
			continue
		}
		if b, ok := best[s.Metric]; !ok || s.Percentile > b.Percentile {
			best[s.Metric] = s
		}
	}
	names = []string{}
	for _, m := range []struct {
		key string
		at  *int64
	}{{"ttft", &l.ttft}, {"tpot", &l.tpot}, {"e2e", &l.e2e}} {
		if s, ok := best[m.key]; ok {
			*m.at = int64(math.Round(float64(s.ThresholdMS) * 1e6))
			names = append(names, fmt.Sprintf("%s <= %v ms", strings.ToUpper(m.key), float64(s.ThresholdMS)))
		}
	}
	if _, ok := best["itl"]; ok {
		note = "ITL limits are on gaps, not on requests, and are not part of it"
	}
	return l, names, note
}

// good reports whether a request met every limit. An answer of one token has
// no time between tokens, so a TPOT limit does not apply to it; one whose
// tokens nobody counted cannot show that it met the limit.
func (l limits) good(s *sample) bool {
	if !s.isOK() {
		return false
	}
	return holds(l.ttft, s.ttft()) && holds(l.e2e, s.e2e()) && (s.oneToken || holds(l.tpot, s.tpot))
}

func holds(limit, v int64) bool { return limit == absent || v != absent && v <= limit }
