package replay

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Headroom says how many times the planned events a second this client could
// take, by a short run at a mock in the same process before the run. The mock's
// CPU time is in it and cannot be told from the client's, so it is a lower bound;
// so is it since both share the cores. TLS is not in it. Two things bound it: the
// cores that the process really gets (CPUUse.Got), since beside busy neighbours
// an event costs less, not more: wakes are shared; and being late in the test,
// of which no multiple follows whatever the CPU would allow. Nor does one where it
// was late by a little and got less than 0.4 of its cores: how much neighbours
// leave in the run is theirs to say.
type Headroom struct {
	Times        float64 `json:"times"` // of PlannedPerS; 0: none, or not known
	Late         bool    `json:"late,omitempty"`
	Starved      bool    `json:"starved,omitempty"` // it got less than 0.4 of the cores that it wanted, and was not quite on time
	PlannedPerS  float64 `json:"planned_events_per_s"`
	Events       int64   `json:"events"`           // that the test brought
	CPUS         float64 `json:"cpu_s"`            // of client and mock together
	WaitedS      float64 `json:"waited_s"`         // ready to run, and without a core
	Cores        int     `json:"cores"`            //
	CoresGot     float64 `json:"cores_got"`        // of them, in the test
	LagP99MS     float64 `json:"send_lag_p99_ms"`  // in the test, at SpeedTimes
	SpeedTimes   float64 `json:"at_times_planned"` // how many times as fast as planned the test was
	Verdict      string  `json:"client_verdict"`   // of the test
	Reason       string  `json:"client_reason,omitempty"`
	MockIncluded bool    `json:"mock_included"`
}

// full is the share of the cores above which a client was measured to be late.
const full = 0.85

// starved is the share of its cores below which neighbours decide.
const starved = 0.4

// NewHeadroom works out the headroom for planned events a second from a test
// that brought events with so much use of the CPU; stats is the account of the
// test.
func NewHeadroom(planned, speed float64, events int64, use CPUUse, stats RunStats) *Headroom {
	thousandth := func(d time.Duration) float64 { return math.Round(max(d, 0).Seconds()*1e3) / 1e3 }
	h := &Headroom{PlannedPerS: math.Round(planned), Events: events, CPUS: thousandth(use.CPU), WaitedS: thousandth(use.Waited), Cores: use.Cores,
		CoresGot: math.Round(use.Got()*100) / 100, LagP99MS: stats.Verdict.LagP99MS, Late: stats.Verdict.Verdict == ClientLimited,
		SpeedTimes: speed, Verdict: stats.Verdict.Verdict, Reason: stats.Verdict.Reason, MockIncluded: true}
	h.Starved = stats.Verdict.Verdict == Usable && h.CoresGot > 0 && h.CoresGot < starved*float64(h.Cores)
	if events > 0 && use.CPU > 0 && planned > 0 && !h.Late && !h.Starved {
		h.Times = math.Round(full*use.Got()/(use.CPU.Seconds()/float64(events))/planned*100) / 100
	}
	return h
}

// Short is the headroom in a few words: 8.5x, none: late in the test, not known.
func (h *Headroom) Short() string {
	switch {
	case h.Late:
		return "none: late in the test"
	case h.Starved:
		return "none: short of cores in the test"
	case h.Times == 0:
		return "not known"
	}
	return times(h.Times) + "x"
}

// Why says what Short follows from.
func (h *Headroom) Why() string {
	switch {
	case h.Late:
		why, _, _ := strings.Cut(h.Reason, "; ") // without what to do
		return fmt.Sprintf("at %.3gx the planned %.0f events/s, an in-process mock on the same cores included: %s%s", h.SpeedTimes, h.PlannedPerS, why, h.shared("; it got "))
	case h.Starved:
		return fmt.Sprintf("at %.3gx the planned %.0f events/s client and an in-process mock %s: others on the same cores decide what this client can do", h.SpeedTimes, h.PlannedPerS, h.shared("got "))
	case h.Times == 0:
		return "the test brought nothing"
	}
	return fmt.Sprintf("client and an in-process mock together took %.3g µs of CPU an event at %.3gx the planned %.0f events/s, and %s; the mock's share is in that, so the client alone has more",
		h.CPUS/float64(h.Events)*1e6, h.SpeedTimes, h.PlannedPerS, h.cores())
}

// cores says how many there are to take from.
func (h *Headroom) cores() string {
	if say := h.shared("got "); say != "" {
		return say
	}
	return fmt.Sprintf("have %d cores", h.Cores)
}

// shared says that the process had not all of its cores, empty where it had.
func (h *Headroom) shared(before string) string {
	if h.CoresGot <= 0 || h.CoresGot > 0.95*float64(h.Cores) {
		return ""
	}
	return fmt.Sprintf("%s%.2g of %d cores when they wanted them, and waited for the rest", before, h.CoresGot, h.Cores)
}

// Sentence says it for people.
func (h *Headroom) Sentence() string { return "headroom " + h.Short() + ": " + h.Why() }

// Tight tells that a run would come near what the client can do.
func (h *Headroom) Tight() bool { return h.Late || h.Starved || h.Times > 0 && h.Times < h.SpeedTimes }

// Note is what a report must say of a tight one.
func (h *Headroom) Note() string {
	could := fmt.Sprintf("this client could take about %.1f times the planned events/s", h.Times)
	if h.Late {
		could = fmt.Sprintf("this client was late in a test at %.3g times the planned events/s before the run", h.SpeedTimes)
	}
	if h.Starved {
		could = fmt.Sprintf("this client got %.2g of its %d cores in a test before the run", h.CoresGot, h.Cores)
	}
	return could + ": give it more cores, fewer neighbours, or share the load out (--shard)"
}

// times writes a factor: 2.7, 41, over 100.
func times(v float64) string {
	switch {
	case v > 100:
		return "over 100"
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// CPUTime returns the CPU time of this process so far, negative when unknown.
func CPUTime() time.Duration { return time.Duration(cpuTime()) }
