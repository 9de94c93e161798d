package replay

import (
	"fmt"
	"slices"
)

// Lags gathers the send lag of measured requests: from the scheduled instant
// to the last byte handed to the kernel. Opening connections is part of it, and
// kept apart as well. Requests let go but never written (no connection, say)
// have no send lag and are only counted.
type Lags struct {
	total, connect []int64
	unwritten      int64
}

// Add takes the lag of one result; warm-ups and jobs not sent have none.
func (l *Lags) Add(r *Result) {
	if r.Phase != Measure || !r.Dispatch.OK {
		return
	}
	if !r.WriteEnd.OK {
		l.unwritten++
		return
	}
	l.total = append(l.total, r.WriteEnd.V-r.Sched)
	if r.ConnReady.OK {
		l.connect = append(l.connect, r.ConnReady.V-r.Dispatch.V)
	}
}

// The bounds of the client verdicts on the p99 of send lag, ns.
const (
	cleanLag  = 1_000_000
	usableLag = 5_000_000
)

// Verdict judges the client by reference rule: p99 send lag at most 1 ms is
// clean, at most 5 ms usable, anything worse client-limited.
func (l *Lags) Verdict() ClientVerdict {
	if len(l.total) == 0 {
		return ClientVerdict{Verdict: NoVerdict, Reason: "nothing was sent in the measured part" + l.rest()}
	}
	slices.Sort(l.total)
	slices.Sort(l.connect)
	p50, p99 := quantile(l.total, 50), quantile(l.total, 99)
	v := ClientVerdict{LagP50MS: ms(p50), LagP99MS: ms(p99), LagMaxMS: ms(l.total[len(l.total)-1])}
	for _, lag := range l.total {
		if lag > usableLag {
			v.Late++
		}
	}
	conn := ""
	if n := len(l.connect); n > 0 {
		conn = fmt.Sprintf(", of which opening a connection p99 %.3g ms", ms(quantile(l.connect, 99)))
	}
	switch {
	case p99 <= cleanLag:
		v.Verdict, v.Reason = Clean, fmt.Sprintf("send lag p99 %.3g ms, at most 1 ms", v.LagP99MS)
	case p99 <= usableLag:
		v.Verdict, v.Reason = Usable, fmt.Sprintf("send lag p99 %.3g ms, above 1 ms and at most 5 ms%s", v.LagP99MS, conn)
	default:
		v.Verdict, v.Reason = ClientLimited, fmt.Sprintf("send lag p99 %.3g ms, above 5 ms%s: give the client more cores, fewer neighbours or open connections ahead", v.LagP99MS, conn)
	}
	v.Reason += l.rest()
	return v
}

// rest says how many requests have no send lag.
func (l *Lags) rest() string {
	if l.unwritten == 0 {
		return ""
	}
	return fmt.Sprintf("; %d were let go but never written and have no lag", l.unwritten)
}

func ms(ns int64) float64 { return float64(ns/1000) / 1000 }

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
