package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"reprise/fit/dist"
)

// The sections of a comparison, in order.
const (
	sectionLengths  = "lengths"
	sectionArrivals = "arrivals"
	sectionPrefix   = "prefix"
	sectionSessions = "sessions"
	sectionFeatures = "features"
	sectionQueue    = "queue"
)

// sameRate is how far rates may be apart for their dispersions to compare.
const sameRate = 0.25

const whyAssumed = "told only: the shape of stated lengths is assumed"

const (
	jointName = "dependence TV 10x10"
	gapsName  = "gaps KS"
	turnsGaps = "time between turns KS"
)

// metrics sets two sides against each other, without noise, baseline and queue.
// same says that the aliases of both are the same.
func metrics(a, b *side, l Limits, same bool) []Metric {
	var out []Metric
	out = append(out, lengthMetrics(a, b)...)
	out = append(out, arrivalMetrics(a, b)...)
	out = append(out, weekMetrics(a, b)...)
	out = append(out, prefixMetrics(a, b)...)
	out = append(out, sessionMetrics(a, b)...)
	out = append(out, featureMetrics(a, b, same)...)
	for i := range out {
		if v, ok := l.limit(&out[i], a, b); ok {
			out[i].Limit = some(v)
		}
		if out[i].Name == courseName && l == Drift && out[i].Off.OK {
			out[i].Limit, out[i].Why = Value{}, "told only: a later log need not begin at the same hour"
		}
	}
	return out
}

func lengthMetrics(a, b *side) []Metric {
	var out []Metric
	for _, v := range []struct {
		name string
		a, b dist.Values
	}{{"input", a.in, b.in}, {"output", a.out, b.out}} {
		out = append(out, distance(sectionLengths, v.name+" KS", dist.KSTwo(v.a, v.b)),
			distance(sectionLengths, v.name+" W1/mean", dist.Wasserstein(v.a, v.b)/v.a.Mean()),
			pair(a, b, sectionLengths, v.name+" mean", "tokens", Ratio))
		for _, p := range lengthPoints {
			out = append(out, pair(a, b, sectionLengths, v.name+" "+pointName(p), "tokens", Ratio))
		}
		if a.assumed[v.name] || b.assumed[v.name] {
			from := len(out) - len(lengthPoints) - 3
			out[from].Why, out[from+1].Why = whyAssumed, whyAssumed
		}
	}
	joint := Metric{Section: sectionLengths, Name: jointName, How: Distance, Why: "one of the two has no pairs of input and output"}
	if len(a.pairIn) >= 100 && len(b.pairIn) >= 100 {
		joint = distance(sectionLengths, jointName, newGrid(a.pairIn, a.pairOut).variation(newGrid(b.pairIn, b.pairOut)))
	}
	return append(out, joint)
}

func arrivalMetrics(a, b *side) []Metric {
	out := []Metric{pair(a, b, sectionArrivals, "rate", "1/s", Ratio)}
	for _, w := range scales {
		out = append(out, pair(a, b, sectionArrivals, peakName(w), "1", Ratio))
	}
	for _, w := range scales {
		m := pair(a, b, sectionArrivals, idcName(w), "1", LogRatio)
		if rates := out[0]; m.Off.OK && rates.Off.OK && rates.Off.V > sameRate {
			m.Why = "told only: dispersion grows with the rate"
		}
		out = append(out, m)
	}
	cv := pair(a, b, sectionArrivals, "local CV", "1", Difference)
	if cv.A.OK && cv.A.V >= 1.5 {
		cv.Why = "told only: above 1.5 the CV hangs on single gaps"
	}
	out = append(out, cv)
	gaps := Metric{Section: sectionArrivals, Name: gapsName, How: Distance, Why: "a clock too coarse for gaps, or a spec, which keeps none"}
	if a.fine && b.fine {
		gaps = distance(sectionArrivals, gapsName, dist.KSTwo(a.gaps, b.gaps))
	}
	return append(out, gaps, courseMetric(a, b))
}

func prefixMetrics(a, b *side) []Metric {
	names := []string{hitRequests, hitTokens, hitFull}
	for _, c := range capacities {
		names = append(names, hitName(c))
	}
	var out []Metric
	for _, n := range names {
		m := pair(a, b, sectionPrefix, n, "1", Difference)
		if a.blocks != b.blocks && m.Off.OK && n != hitTokens {
			m = Metric{Section: m.Section, Name: n, Unit: m.Unit, How: m.How, A: m.A, B: m.B,
				Why: fmt.Sprintf("blocks of %d and of %d tokens do not compare", a.blocks, b.blocks)}
		}
		if m.A.OK || m.B.OK {
			out = append(out, m)
		}
	}
	return out
}

func sessionMetrics(a, b *side) []Metric {
	var out []Metric
	if _, ok := a.values[turnsMean]; ok {
		out = append(out, pair(a, b, sectionSessions, turnsMean, "turns", Ratio))
	}
	for k := 1; k <= maxTurn; k++ {
		m := pair(a, b, sectionSessions, hazardName(k), "1", Difference)
		if m.A.OK && m.B.OK {
			out = append(out, m)
		}
	}
	if a.turns.Len() > 0 && b.turns.Len() > 0 {
		out = append(out, distance(sectionSessions, turnsGaps, dist.KSTwo(a.turns, b.turns)))
	}
	return out
}

func featureMetrics(a, b *side, same bool) []Metric {
	names := map[string]bool{}
	for _, s := range []*side{a, b} {
		for k := range s.values {
			if strings.HasPrefix(k, featurePrefix) {
				names[k] = true
			}
		}
	}
	var out []Metric
	for _, n := range slices.Sorted(maps.Keys(names)) {
		out = append(out, pair(a, b, sectionFeatures, n, "1", Difference))
	}
	for _, kind := range kinds {
		out = append(out, nameMetrics(kind, a, b, same)...)
	}
	return out
}

func distance(section, name string, d float64) Metric {
	m := Metric{Section: section, Name: name, Unit: "1", How: Distance, Off: some(d)}
	if !m.Off.OK {
		m.Why = "one of the two has no such values"
	}
	return m
}

// pair sets a named value of both sides against each other.
func pair(a, b *side, section, name, unit string, how How) Metric {
	m := Metric{Section: section, Name: name, Unit: unit, How: how}
	va, oka := a.values[name]
	vb, okb := b.values[name]
	if oka {
		m.A = some(va)
	}
	if okb {
		m.B = some(vb)
	}
	switch {
	case !oka && !okb:
		m.Why = "neither can tell"
	case !oka:
		m.Why = "the reference cannot tell"
	case !okb:
		m.Why = "the second cannot tell"
	default:
		m.Off = some(how.of(va, vb))
		if !m.Off.OK {
			m.Why = "a zero in a ratio"
		}
	}
	return m
}

func (h How) of(a, b float64) float64 {
	switch {
	case a == b:
		return 0
	case h == Ratio:
		return math.Abs(b/a - 1)
	case h == LogRatio:
		return math.Abs(math.Log(b / a))
	}
	return math.Abs(b - a)
}
