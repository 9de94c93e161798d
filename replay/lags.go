package replay

import (
	"fmt"
	"math"
)

// Lags gathers the send lag of measured requests: from the scheduled instant
// to the last byte handed to the kernel. Opening connections is part of it, and
// kept apart as well. Requests let go but never written (no connection, say)
// have no send lag and are only counted. It gathers besides how many events
// shared a read, and how many requests this machine could not send at all.
type Lags struct {
	total, connect []int64
	unwritten      int64
	lacking        int64  // failed by what this machine lacked, in any phase
	lack           string // what that was, of the first
	events, reads  int64  // of streamed answers
}

// Add takes the lag of one result; warm-ups and jobs not sent have none.
func (l *Lags) Add(r *Result) {
	if r.lacking() {
		if l.lacking++; l.lack == "" {
			l.lack = r.Reason
		}
	}
	if r.Phase != Measure || !r.Dispatch.OK {
		return
	}
	if !r.WriteEnd.OK {
		l.unwritten++
		return
	}
	if r.NEvents > 1 {
		l.events, l.reads = l.events+int64(r.NEvents), l.reads+int64(r.NReads)
	}
	l.total = append(l.total, r.WriteEnd.V-r.Sched)
	if r.ConnReady.OK {
		l.connect = append(l.connect, r.ConnReady.V-r.Dispatch.V)
	}
}

// rest says how many requests have no send lag.
func (l *Lags) rest() string {
	if l.unwritten == 0 {
		return ""
	}
	return fmt.Sprintf("; %d were let go but never written and have no lag", l.unwritten)
}

// ms is a time in milliseconds, to the nearest microsecond, as a report has it.
func ms(ns int64) float64 { return math.Round(float64(ns)/1e3) / 1e3 }

// quantile returns the type-1 quantile (inverse empirical distribution) of
// sorted values at percent.
func quantile(sorted []int64, percent int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*percent+99)/100-1, 0)]
}

// JudgeClient is the verdict over results in memory.
func JudgeClient(results []Result) ClientVerdict {
	var l Lags
	for i := range results {
		l.Add(&results[i])
	}
	return l.Verdict()
}
