// Package fit measures a workload: lengths, arrivals, prefix sharing and what
// depends on what. It turns requests into the numbers of a workload spec.
//
//	Describe, FitFamilies   one length variable
//	Spearman, Strata        what input lengths say of output lengths
//	Arrivals                rate, burstiness at each scale, peaks, resolution
//	Sharing, LRUCurve       what a prefix cache could hit
//	Link, TurnsOf           which requests are turns, how sessions go on
//	Features, Lacking       what requests use, and what a trace never does
//
// The functions here are pure: slices in, plain structs out, no clock and no
// randomness. Each is linear or n·log n.
//
// Units: times are int64 microseconds and ascend; results are in seconds and
// 1/s; lengths in tokens; quantiles of type 1.
//
// A statistic that the data cannot carry is absent and says why (Stat.Why),
// never zero and never guessed.
//
// Non-goals: causes, forecasts, p-values.
package fit

// Stat is a number that may be absent; Why then says why.
type Stat struct {
	Value float64
	Why   string
}

// OK reports whether the number is there.
func (s Stat) OK() bool { return s.Why == "" }

func value(v float64) Stat   { return Stat{Value: v} }
func absent(why string) Stat { return Stat{Why: why} }

// unless withholds s for the reason why, if there is one; it comes before any
// reason that s has of its own.
func (s Stat) unless(why string) Stat {
	if why != "" {
		return absent(why)
	}
	return s
}
