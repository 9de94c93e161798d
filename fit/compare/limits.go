package compare

import (
	"math"
	"strings"
)

// Limits is a set of thresholds.
type Limits string

// Fidelity holds a synthetic trace to its source over the same window. Drift
// holds a later log to what was agreed: a KS of 0.05 is what is usable for
// capacity, and a tenth of a mean is what a capacity plan has to spare.
const (
	Fidelity Limits = "fidelity"
	Drift    Limits = "drift"
)

// limit is the threshold of a metric between two sides of na and nb requests.
// ok is false for a metric that is told and not judged.
func (l Limits) limit(m *Metric, a, b *side) (v float64, ok bool) {
	drift := l == Drift
	pick := func(fidelity, forDrift float64) (float64, bool) {
		if drift {
			return forDrift, true
		}
		return fidelity, true
	}
	sampling := 0.0 // a stated table has no requests behind it, and no such error
	for _, s := range []*side{a, b} {
		if s.Requests > 0 {
			sampling += 1 / float64(s.Requests)
		}
	}
	sampling = 1.5 * math.Sqrt(sampling)
	switch {
	case strings.HasSuffix(m.Name, " KS") && m.Section == sectionLengths:
		return pick(max(0.01, sampling), max(0.05, sampling))
	case strings.HasSuffix(m.Name, " W1/mean"):
		return pick(0.02, 0.10)
	case strings.HasSuffix(m.Name, " mean") && m.Section == sectionLengths:
		return pick(0.02, 0.10)
	case strings.HasSuffix(m.Name, " p99"):
		return pick(0.05, 0.15)
	case strings.HasSuffix(m.Name, " p99.9"):
		return pick(0.10, 0.25)
	case m.Section == sectionLengths && m.How == Ratio:
		return pick(0.03, 0.10)
	case m.Name == jointName:
		return pick(0.05, 0.10)
	}
	return l.rest(m, a, pick)
}

func (l Limits) rest(m *Metric, a *side, pick func(fidelity, drift float64) (float64, bool)) (float64, bool) {
	bursty := a.bursty
	switch {
	case m.Name == "rate":
		return pick(3*math.Sqrt(max(a.values[idcName(60)], 1)/float64(max(a.Requests, 1))), 0.10)
	case m.Name == peakName(60):
		return pick(0.05, 0.20)
	case m.Name == peakName(10):
		return pick(0.15, 0.30)
	case m.Name == peakName(1):
		if bursty {
			return pick(0.35, 0.50)
		}
		return pick(0.30, 0.40)
	case m.How == LogRatio:
		if bursty {
			return pick(0.25, 0.50)
		}
		return pick(0.20, 0.50)
	case m.Name == busiestName:
		return pick(0.05, 0.20)
	case m.Name == hoursName || m.Name == daysName:
		return pick(0.05, 0.10)
	case m.Name == "local CV":
		return pick(0.05, 0.15)
	case m.Name == gapsName:
		if bursty {
			return pick(0.20, 0.25)
		}
		return pick(0.02, 0.05)
	case m.Name == hitTokens || m.Name == hitFull:
		return pick(0.01, 0.05)
	case m.Name == hitRequests:
		return pick(0.02, 0.05)
	case m.Section == sectionPrefix:
		return pick(0.06, 0.06)
	case m.Name == turnsMean:
		return pick(0.05, 0.15)
	case m.Section == sectionSessions:
		return pick(0.03, 0.05)
	case m.Section == sectionFeatures:
		return pick(0.02, 0.05)
	case m.Section == sectionQueue:
		return pick(0.25, 0.50)
	}
	return 0, false
}
