package report

import (
	"fmt"
	"math"

	"reprise/replay"
)

// wrong is by how much the client itself may have made the numbers wrong, ns, at
// p99. What it was late with lengthens TTFT and E2E from the planned instant and
// never shortens them; late stamps of reads lengthen both clocks, and make gaps
// wrong either way.
type wrong struct {
	lag  int64 // from the planned instant to the bytes handed over, without the connection's handshakes
	read int64 // of a stamp of what arrived
	tpot int64 // of a time per token: read over the gaps of a short answer (p10)
}

func wrongOf(run *replay.Run, c *columns) wrong {
	w := wrong{read: int64(math.Round(run.Verdict.ReadErrorMS(run.Clock.Stamps) * 1e6))}
	w.lag, _ = at(c.own, 99)
	w.tpot = w.read
	if n, ok := at(c.tokens, 10); ok {
		w.tpot = w.read / max(n-1, 1)
	}
	return w
}

// of returns how much less and how much more than measured a single value of a
// metric may be, ns.
func (w wrong) of(metric, clock string) (less, more int64) {
	switch {
	case metric == "tpot":
		return w.tpot, w.tpot
	case metric == "itl":
		return w.read, w.read
	case clock == "write_end":
		return w.read, 0
	}
	return w.lag + w.read, 0
}

// at is of for a percentile p of d, in units of unit ns: own are the same latencies
// without what the client was late with each, so its lag counts at that very
// percentile; nil where lag is not in them. No value can be less than 0.
func (w wrong) at(metric, clock string, d distribution, unit int64, own sorted, p float64) (less, more int64) {
	v, ok := at(d, p)
	if !ok {
		return 0, 0
	}
	v *= unit
	less, more = w.of(metric, clock)
	if o, ok := at(own, p); ok {
		less = v - o + w.read
	}
	return min(less, v), more
}

// inLag withdraws a miss that the client alone made: own is the same limit, held
// against the latencies without what the client was late, and later by what its
// stamps may be.
func (r SLOResult) inLag(own SLOResult, w wrong) SLOResult {
	switch {
	case r.Verdict != Missed:
		return r
	case own.Verdict == Missed:
		if r.MarginMS != nil && *r.MarginMS < 0 && -*r.MarginMS*1e6 < float64(w.lag+w.read) {
			r.Reason += ", also without the client's lag"
		}
		return r
	}
	without := fmt.Sprintf("fewer than %d requests are over it", beyond)
	if own.MS != nil {
		without = fmt.Sprintf("%s is %s", pName(r.Percentile), msText(*own.MS))
	}
	if w.read > 0 && (own.MS == nil || *own.MS > r.ThresholdMS) {
		without += fmt.Sprintf(", and its stamps may be up to %s late", msText(*ms(w.read)))
	}
	over := "missed"
	if r.MarginMS != nil && *r.MarginMS < 0 {
		over = "over the limit by " + msText(-*r.MarginMS)
	}
	return r.cannot(fmt.Sprintf("%s, but by what this client itself was late: without that %s", over, without))
}

// inError withdraws a verdict whose margin is within the client's error of ns,
// which goes either way, since its stamps may be read late.
func (r SLOResult) inError(ns, read int64) SLOResult {
	if r.MarginMS == nil || r.Infinite || r.Verdict == CannotSay || math.Abs(*r.MarginMS)*1e6 >= float64(ns) {
		return r
	}
	return r.cannot(fmt.Sprintf("%s, which is within this client's error of ±%s: its stamps may be up to %s late", r.Reason, msText(*ms(ns)), msText(*ms(read))))
}

// errText is the client's error for a reader: −4.10 where it can only have
// lengthened the value, ±0.012 where it goes either way, 0.
func errText(less, more float64) string {
	switch {
	case less == 0 && more == 0:
		return "0"
	case more == 0:
		return "−" + msNumber(less)
	case less == 0:
		return "+" + msNumber(more)
	case less == more:
		return "±" + msNumber(more)
	}
	return "−" + msNumber(less) + " +" + msNumber(more)
}

// unsureText stands behind a value of which the client's error is worth a word:
// 1 % and more.
func unsureText(ms, less, more float64) string {
	if max(less, more) < 0.01*ms {
		return ""
	}
	return " " + errText(less, more) + " ms"
}
