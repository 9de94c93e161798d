package selftest

import (
	"fmt"

	"reprise/replay"
)

// The bounds of the p99 of an error, ms: those of the client verdicts.
const (
	clean  = 1
	usable = 5
)

// heldShare is the share of events held back from which a path is said to
// buffer: the p99 of gaps is then made of such.
const heldShare = 0.01

// judge sets the verdict and says why it is no better.
func (r *Report) judge() {
	r.Verdict = replay.Clean
	fail := func(format string, a ...any) {
		r.Verdict = replay.ClientLimited
		r.Why = append(r.Why, fmt.Sprintf(format, a...))
	}
	if r.Answered < r.Planned {
		fail("%d of %d requests were not answered", r.Planned-r.Answered, r.Planned)
	}
	if r.Unstamped > 0 {
		fail("%d of %d answers have no stamps: the far end must be reprise mock --stamps, and nothing on the way may change its events", r.Unstamped, r.Answered)
	}
	if r.Early > 0 {
		fail("%d requests left before their instant", r.Early)
	}
	if r.Client.Verdict == replay.ClientLimited {
		fail("the client: %s", r.Client.Reason)
	}
	if r.Client.Verdict == replay.Usable {
		r.soften("the client: " + r.Client.Reason)
	}
	if r.Held > heldShare {
		fail("%s: %.3g %% of the events came together with the one before, though sent at least 1 ms after it: %s", r.blame(), r.Held*100, r.holder())
	}
	r.bound("TTFT from sending is p99 %s ms longer than the server's and the round trip together", r.Excess.P99)
	r.bound("gaps are p99 %s ms off", r.Gaps.P99)
}

// holder says what holds events back, as far as this client can know.
func (r *Report) holder() string {
	if r.Client.Verdict == replay.ClientLimited {
		return "this client was late and read at once what had come meanwhile, so it is not known whether anything on the way holds answers back"
	}
	return "answers are held back (a proxy that buffers?), so TTFT is late and gaps are not the server's"
}

// bound judges the p99 of an error, ms.
func (r *Report) bound(format string, p99 float64) {
	say := r.blame() + ": " + fmt.Sprintf(format, number(p99))
	switch {
	case p99 > usable:
		r.Verdict = replay.ClientLimited
		r.Why = append(r.Why, say)
	case p99 > clean:
		r.soften(say)
	}
}

func (r *Report) soften(why string) {
	if r.Verdict == replay.Clean {
		r.Verdict = replay.Usable
	}
	r.Why = append(r.Why, why)
}

// blame says whose doing an error is: the client's own signs tell.
func (r *Report) blame() string {
	stall := r.Client.HeartP99MS
	if r.Read.P99 > clean || r.Client.KernelP99MS != nil && *r.Client.KernelP99MS > clean || stall != nil && *stall > clean {
		return "the client or the path"
	}
	return "the path"
}

// Lines render the report for people.
func (r *Report) Lines() []string {
	clock := fmt.Sprintf("the far clock agrees with ours to ±%s ms", number(r.OffsetErrorMS))
	if ahead := max(r.OffsetMS, -r.OffsetMS); ahead > r.OffsetErrorMS {
		way := "ahead of"
		if r.OffsetMS < 0 {
			way = "behind"
		}
		clock = fmt.Sprintf("the far clock is %s ms %s ours, ±%s ms", number(ahead), way, number(r.OffsetErrorMS))
	}
	trip := "least delay of a request; no handshake was timed"
	if r.Handshake {
		trip = "a TCP handshake"
	}
	out := []string{
		fmt.Sprintf("Clock       %s (by the fastest of %d exchanges)", clock, r.TTFT.N),
		fmt.Sprintf("Round trip  %s ms (%s)", number(r.RoundTripMS), trip),
		fmt.Sprintf("Early       %d of %d requests left before their instant (must be 0)", r.Early, r.Planned),
		"",
		fmt.Sprintf("%-58s %9s %9s %9s %8s", "Error, ms", "p50", "p99", "max", "n"),
	}
	row := func(name string, s Spread) {
		if s.N > 0 {
			out = append(out, fmt.Sprintf("%-58s %9s %9s %9s %8d", name, number(s.P50), number(s.P99), number(s.Max), s.N))
		}
	}
	row("Client: send lag, planned instant to bytes written", r.Lag)
	if r.Stamps != "user" { // else the stamp is the look
		row("Client: from the kernel's stamp of an event to its look at it", r.Read)
	}
	row("Path: event sent to stamped here", r.Down)
	row("Both: planned instant to the far kernel", r.Far)
	row("Both: TTFT from sending, longer than the server's by", r.TTFT)
	row("  of that beyond the round trip", r.Excess)
	row("Both: gaps, off by", r.Gaps)
	out = append(out, "")
	if r.Client.Verdict == replay.Clean { // else the verdict says it
		out = append(out, "Client      "+r.Client.Reason)
	}
	out = append(out, fmt.Sprintf("Held back   %.3g %% of the events came together with the one before, though sent at least 1 ms after it", r.Held*100))
	return append(out, r.conclusion()...)
}

// conclusion is the verdict in words.
func (r *Report) conclusion() []string {
	say := "CLEAN: what this client reports here is the server's and the round trip, within 1 ms at p99"
	switch r.Verdict {
	case replay.Usable:
		say = "USABLE ±5 ms"
	case replay.ClientLimited:
		say = "DOES NOT HOLD: do not believe latencies taken this way"
	}
	out := []string{"Verdict     " + say}
	for _, w := range r.Why {
		out = append(out, "            "+w)
	}
	return out
}

// number writes ms with three digits, or all before the point.
func number(v float64) string {
	if v >= 1000 || v <= -1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
