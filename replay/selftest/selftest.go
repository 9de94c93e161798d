// Package selftest finds the error of a client and of the way to a server from
// a run against a mock that stamps what it gets and sends.
//
// The mock tells when its kernel had each request and when it sent each event,
// by its own clock. The TTFT and the gaps that the server had are differences of
// these alone, those that the client reports are differences of its own, so that
// what the client and the path add to both is known without one clock for the
// two. Only one-way delays need that: the offset of the clocks is taken from
// the exchange with the least delay, as NTP does (RFC 5905 §8), and is known to
// half of that delay.
//
// Units: nanoseconds inside, milliseconds in the Report. Not here: sending the
// load (replay), the mock (replay/mock).
package selftest

import (
	"math"
	"slices"

	"reprise/replay"
)

// Test gathers results of requests at a mock with stamps.
type Test struct {
	zero               int64 // Unix ns of the run's zero, by the client's clock
	planned, answered  int64
	early, unstamped   int64
	lag, ttft, gaps    []int64
	read               []int64
	events, heldEvents int64
	trips              []trip
}

// trip is what a request and its first event took, ns; up and down hold the
// offset of the clocks.
type trip struct{ lag, up, down, delay int64 }

// New returns a test of a run whose zero is at an instant of the wall clock,
// Unix ns.
func New(zero int64) *Test { return &Test{zero: zero} }

// apart is by how much two events must have left one after the other, ns, for
// their arrival in one read to be somebody's doing: less may lie in one segment.
const apart = 1_000_000

// Add takes the result of a request.
func (t *Test) Add(r *replay.Result) {
	t.planned++
	if r.WriteEnd.OK {
		t.lag = append(t.lag, r.WriteEnd.V-r.Sched)
		if r.WriteEnd.V < r.Sched || r.Dispatch.V < r.Sched {
			t.early++
		}
	}
	if r.Class != replay.OK {
		return
	}
	t.answered++
	f := r.Far
	if f == nil || f.Arrived == 0 || len(f.Sent) == 0 || len(f.Sent) != int(r.NEvents) || !r.WriteEnd.OK {
		t.unstamped++
		return
	}
	t.read = append(t.read, f.Read...)
	ttft := r.FirstContent.V - r.WriteEnd.V - (f.Sent[0] - f.Arrived)
	t.ttft = append(t.ttft, ttft)
	t.trips = append(t.trips, trip{r.WriteEnd.V - r.Sched, f.Arrived - (t.zero + r.WriteEnd.V), t.zero + r.FirstContent.V - f.Sent[0], ttft})
	for i, gap := range r.Gaps {
		sent := f.Sent[i+1] - f.Sent[i]
		t.gaps = append(t.gaps, max(int64(gap)*1000-sent, sent-int64(gap)*1000))
		t.events++
		if gap == 0 && sent >= apart {
			t.heldEvents++
		}
	}
}

// Spread is how something is distributed, ms; zero where N is.
type Spread struct {
	N             int
	P50, P99, Max float64
}

func spread(v []int64) Spread {
	if len(v) == 0 {
		return Spread{}
	}
	slices.Sort(v)
	at := func(p int) float64 { return millis(v[max((len(v)*p+99)/100-1, 0)]) }
	return Spread{len(v), at(50), at(99), at(100)}
}

func millis(ns int64) float64 { return math.Round(float64(ns)/1e3) / 1e3 }

// Report is what a test came to, ms.
type Report struct {
	Planned, Answered int64
	Early             int64   // sent before their instant: must be 0
	Unstamped         int64   // answers without stamps
	OffsetMS          float64 // by which the far clock is ahead of ours
	OffsetErrorMS     float64 // how well that is known, at most
	RoundTripMS       float64 // of a TCP handshake, else the least delay seen; what distance alone explains
	Handshake         bool
	Lag               Spread  // from the planned instant to the bytes written: the client's own
	Read              Spread  // from the stamp of an event to the client's look at it: its own
	Far               Spread  // from the planned instant to the far kernel, by the offset
	TTFT              Spread  // what the client reports from sending, less what the server took
	Excess            Spread  // the same without the round trip
	Gaps              Spread  // difference of a gap as reported from that between the sends
	Down              Spread  // from sending the first event to its stamp here, by the offset
	Held              float64 // share of events that came together with the one before, though sent at least 1 ms later
	Client            replay.ClientVerdict
	Stamps            string // of what arrives here
	Verdict           string // replay.Clean, Usable or ClientLimited: the test does not hold
	Why               []string
}

// Report finishes a test with the run's verdict on its client and what was
// measured of the path.
func (t *Test) Report(client replay.ClientVerdict, path *replay.Path, stamps string) *Report {
	r := &Report{Planned: t.planned, Answered: t.answered, Early: t.early, Unstamped: t.unstamped, Client: client, Stamps: stamps,
		Lag: spread(t.lag), Read: spread(t.read), TTFT: spread(t.ttft), Gaps: spread(t.gaps)}
	offset, delay := t.offset()
	r.OffsetMS, r.OffsetErrorMS, r.RoundTripMS = millis(offset), millis((delay+1)/2), millis(delay)
	if path != nil && path.Handshakes > 0 {
		r.RoundTripMS, r.Handshake = path.HandshakeMS, true
	}
	var excess, down, far []int64
	for _, x := range t.trips {
		excess = append(excess, max(x.delay-int64(r.RoundTripMS*1e6), 0))
		down = append(down, x.down+offset)
		far = append(far, x.lag+x.up-offset)
	}
	r.Excess, r.Down, r.Far = spread(excess), spread(down), spread(far)
	if t.events > 0 {
		r.Held = float64(t.heldEvents) / float64(t.events)
	}
	r.judge()
	return r
}

// offset returns by how much the far clock is ahead, and the delay of the
// exchange that says so: the true offset is within half of it.
func (t *Test) offset() (offset, delay int64) {
	for i, x := range t.trips {
		if i == 0 || x.delay < delay {
			offset, delay = (x.up-x.down)/2, x.delay
		}
	}
	return offset, delay
}
