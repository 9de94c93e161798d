package report

import (
	"math"

	"reprise/replay"
	"reprise/trace"
)

// absent marks an instant or a duration that is not known.
const absent = math.MinInt64

// sample is what the report keeps of one measured request, ns.
type sample struct {
	sched, send, first, answer, end int64 // instants on the run's clock
	tpot                            int64 // ns per output token, or absent
	connect                         int64 // of the handshakes, ns: in the send lag, and not the client's
	tokens                          int32 // of an answer with a TPOT
	repeat                          int32
	class                           replay.Class
	oneToken                        bool // content of at most one token: there is no TPOT to speak of
}

func newSample(r *replay.Result) sample {
	s := sample{
		sched: r.Sched, send: instant(r.WriteEnd), first: instant(r.FirstContent), answer: instant(r.FirstAnswer),
		end: instant(r.End), tpot: absent, repeat: r.Repeat, class: r.Class,
	}
	if r.Reused.OK && !r.Reused.V {
		s.connect = (r.DNS.Or(0) + r.TCP.Or(0) + r.TLS.Or(0)) * 1000
	}
	tokens, _ := outTokens(r)
	s.oneToken = tokens.OK && tokens.V <= 1 && r.FirstContent.OK && !far(r)
	if tokens.OK && tokens.V > 1 && r.FirstContent.OK && r.LastContent.OK && !burst(r) && !overcounted(r) && !far(r) {
		s.tpot, s.tokens = (r.LastContent.V-r.FirstContent.V)/int64(tokens.V-1), tokens.V
	}
	return s
}

// burst reports whether an answer came all at once, or nearly so, so that it has
// no time between tokens, whatever their number.
func burst(r *replay.Result) bool { return r.NReads < 2 || buffered(r) || fewPieces(r) }

// fewPieces reports whether an answer came at so few instants, with several tokens
// each, that its first and last content do not tell the time of a token: those of
// the first piece, whose time is not known, are then a quarter and more.
func fewPieces(r *replay.Result) bool {
	pieces := int32(1)
	for _, g := range r.Gaps {
		if g != 0 {
			pieces++
		}
	}
	n, _ := outTokens(r)
	return pieces < leastPieces && n.V > 2*pieces
}

// leastPieces are enough for a time per token: the first, and three after it.
const leastPieces = 4

// overcounted reports whether usage counts over 10 % more tokens than were
// asked for: then it is no count of this answer.
func overcounted(r *replay.Result) bool {
	return r.OutUsage.OK && r.OutAsked.OK && float64(r.OutUsage.V) > 1.1*float64(max(r.OutAsked.V, 1))
}

// outTokens returns the output tokens by the server's usage, or by our own
// tokenizer where the server gave none (local is then true).
func outTokens(r *replay.Result) (n trace.Opt[int32], local bool) {
	if r.OutUsage.OK {
		return r.OutUsage, false
	}
	return r.OutLocal, r.OutLocal.OK
}

func instant(o trace.Opt[int64]) int64 { return o.Or(absent) }

// span returns to − from, or absent.
func span(from, to int64) int64 {
	if from == absent || to == absent {
		return absent
	}
	return to - from
}

// The latencies of a sample, by the key of the metric and the clock.
func (s *sample) ttft() int64     { return span(s.sched, s.first) }
func (s *sample) ttftSend() int64 { return span(s.send, s.first) }
func (s *sample) ttfa() int64     { return span(s.sched, s.answer) }
func (s *sample) e2e() int64      { return span(s.sched, s.end) }
func (s *sample) e2eSend() int64  { return span(s.send, s.end) }
func (s *sample) lag() int64      { return span(s.sched, s.send) }

// own is what the client itself was late: the send lag without the handshakes.
func (s *sample) own() int64 { return max(0, s.lag()-s.connect) }

// ownless is a latency from the planned instant without what the client was late.
func (s *sample) ownless(v int64) int64 {
	if v == absent || !s.sent() {
		return v
	}
	return v - s.own()
}

// empty reports whether an answer had no content.
func (s *sample) empty() bool { return s.isOK() && s.first == absent }

// unpaced reports whether an answer with content has a TPOT that nobody knows.
func (s *sample) unpaced() bool {
	return s.isOK() && s.first != absent && !s.oneToken && s.tpot == absent
}

// isOK reports whether the request was answered in full.
func (s *sample) isOK() bool { return s.class == replay.OK }

// sent reports whether the request's bytes left.
func (s *sample) sent() bool { return s.send != absent }
