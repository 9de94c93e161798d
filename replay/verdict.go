package replay

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The bounds of the client verdicts on the p99 of each sign, ns.
const (
	cleanLag  = 1_000_000
	usableLag = 5_000_000
)

// hiding is the share of events beyond that of an answer alone which may come in
// a read with the one before, until the kernel's delay alone does not tell any
// more. Each makes two gaps wrong, the one that is 0 and the one before, so the
// p99 of gaps is then made of such events.
const hiding = 0.005

// Signs are what tells, besides the send lag, whether a client may be believed.
type Signs struct {
	Delays SpanCount // from the kernel's receipt of bytes to their read
	Beats  SpanCount // lateness of the heartbeat
	Worst  int64     // of it, ns
	Alone  float64   // share of events that share a read in an answer alone
	Slept  int64     // how long the machine was suspended meanwhile, ns
}

// Verdict judges by the send lag alone.
func (l *Lags) Verdict() ClientVerdict { return l.Judge(Signs{}) }

// Judge says whether the client may be believed: at p99 at most 1 ms of every
// sign that counts is clean, at most 5 ms usable, anything worse
// client-limited. What counts:
//
//   - the send lag;
//   - the delay between the kernel's receipt and the read, where it is known;
//   - requests that this machine had not the descriptors, ports or memory to
//     send: one is enough for client-limited, since they look like failures of
//     the server and are none;
//   - the machine asleep for longer than that: the run's clock stood still, and
//     the server went on;
//   - the heartbeat where that delay is not known, and where it hides stalls: of
//     several segments in one read the kernel stamps the last alone, so a client
//     that stalls for longer than the events are apart shows a short delay. Then
//     more than 0.5 % of the events come in a read with the one before, beyond
//     what those of an answer alone do, and may be wrong by as much as the
//     process was late.
func (l *Lags) Judge(s Signs) ClientVerdict {
	v := l.measured(s)
	if l.lacking > 0 {
		v.Verdict, v.Lacking = ClientLimited, l.lacking
		v.Reason = fmt.Sprintf("%d requests could not be sent from here: %s", l.lacking, l.lack)
		return v
	}
	if s.Slept > usableLag {
		v.Verdict = ClientLimited
		v.Reason = fmt.Sprintf("this machine was asleep for %s s while the run went on: its clock stood still, and the server did not", plain(float64(s.Slept)/1e9))
		return v
	}
	if len(l.total) == 0 {
		v.Verdict, v.Reason = NoVerdict, "nothing was sent in the measured part"+l.rest()
		return v
	}
	worst := quantile(l.total, 99)
	said := []string{fmt.Sprintf("send lag p99 %s ms", plain(v.LagP99MS))}
	if n := len(l.connect); n > 0 && worst > cleanLag {
		said[0] += fmt.Sprintf(" (of which opening a connection p99 %s ms)", plain(ms(quantile(l.connect, 99))))
	}
	if v.KernelP99MS != nil {
		worst = max(worst, s.Delays.Quantile(0.99))
		said = append(said, fmt.Sprintf("bytes read p99 %s ms after the kernel had them", plain(*v.KernelP99MS)))
	}
	if say := l.heartbeat(&v, s); say != "" {
		worst = max(worst, s.Beats.Quantile(0.99))
		said = append(said, say)
	}
	v.settle(worst, strings.Join(said, ", "))
	v.Reason += l.rest()
	return v
}

// measured fills in the figures of a verdict.
func (l *Lags) measured(s Signs) (v ClientVerdict) {
	slices.Sort(l.total)
	slices.Sort(l.connect)
	if n := len(l.total); n > 0 {
		v.LagP50MS, v.LagP99MS, v.LagMaxMS = ms(quantile(l.total, 50)), ms(quantile(l.total, 99)), ms(l.total[n-1])
	}
	for _, lag := range l.total {
		if lag > usableLag {
			v.Late++
		}
	}
	given := func(x float64) *float64 { return &x }
	if s.Delays.N() > 0 {
		v.KernelP99MS = given(ms(s.Delays.Quantile(0.99)))
	}
	if s.Beats.N() > 0 {
		v.HeartP99MS, v.HeartMaxMS = given(ms(s.Beats.Quantile(0.99))), given(ms(s.Worst))
	}
	if l.events > 0 {
		v.Shared = given(round4(1 - float64(l.reads)/float64(l.events)))
		if s.Alone > 0 {
			v.SharedAlone = given(round4(s.Alone))
		}
	}
	return v
}

// plain writes ms or s in figures without an exponent: below 10 every µs, so that
// what is above a bound does not read as the bound.
func plain(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(math.Round(v*1e3)/1e3, 'f', -1, 64)
}

// round4 keeps four decimals of a share.
func round4(share float64) float64 { return float64(int64(share*1e4+0.5)) / 1e4 }

// heartbeat says that the heartbeat counts, and why; empty when it does not.
func (l *Lags) heartbeat(v *ClientVerdict, s Signs) string {
	switch {
	case v.HeartP99MS == nil:
		return ""
	case v.KernelP99MS == nil:
		return fmt.Sprintf("heartbeat p99 %s ms late (it stands for the delay of reads: there are no kernel stamps)", plain(*v.HeartP99MS))
	case v.Shared == nil || *v.Shared-s.Alone <= hiding:
		return ""
	}
	alone := ""
	if s.Alone > 0 {
		alone = fmt.Sprintf(" (%.3g %% of an answer alone)", s.Alone*100)
	}
	return fmt.Sprintf("heartbeat p99 %s ms late (it counts since %.3g %% of the events came in a read with the one before%s, where the kernel's stamps hide a stall)",
		plain(*v.HeartP99MS), *v.Shared*100, alone)
}

// settle sets the verdict by the worst p99 of what counts, ns.
func (v *ClientVerdict) settle(worst int64, said string) {
	switch {
	case worst <= cleanLag:
		v.Verdict, v.Reason = Clean, said+": at most 1 ms"
	case worst <= usableLag:
		v.Verdict, v.Reason = Usable, said+": above 1 ms and at most 5 ms"
	default:
		v.Verdict, v.Reason = ClientLimited, said+": above 5 ms; give the client more cores, fewer neighbours or open connections ahead"
	}
}
