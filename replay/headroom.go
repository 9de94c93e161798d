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
// so is it since both share the cores. TLS is not in it.
type Headroom struct {
	Times        float64 `json:"times"` // of PlannedPerS
	PlannedPerS  float64 `json:"planned_events_per_s"`
	Events       int64   `json:"events"`           // that the test brought
	CPUS         float64 `json:"cpu_s"`            // of client and mock together
	Cores        int     `json:"cores"`            //
	LagP99MS     float64 `json:"send_lag_p99_ms"`  // in the test, at SpeedTimes
	SpeedTimes   float64 `json:"at_times_planned"` // how many times as fast as planned the test was
	Verdict      string  `json:"client_verdict"`   // of the test
	Reason       string  `json:"client_reason,omitempty"`
	MockIncluded bool    `json:"mock_included"`
}

// full is the share of the cores above which a client was measured to be late.
const full = 0.85

// NewHeadroom works out the headroom for planned events a second from a test
// that brought events within so much CPU time of the process; stats is the
// account of the test.
func NewHeadroom(planned, speed float64, events int64, cpu time.Duration, cores int, stats RunStats) *Headroom {
	h := &Headroom{PlannedPerS: math.Round(planned), Events: events, CPUS: math.Round(cpu.Seconds()*1e3) / 1e3, Cores: cores, LagP99MS: stats.Verdict.LagP99MS,
		SpeedTimes: speed, Verdict: stats.Verdict.Verdict, Reason: stats.Verdict.Reason, MockIncluded: true}
	if events > 0 && cpu > 0 && planned > 0 {
		h.Times = math.Round(full*float64(cores)/(cpu.Seconds()/float64(events))/planned*100) / 100
	}
	return h
}

// Sentence says it for people.
func (h *Headroom) Sentence() string {
	if h.Times == 0 {
		return "headroom: not known, the test brought nothing"
	}
	say := fmt.Sprintf("headroom %sx: client and an in-process mock together took %.3g µs of CPU an event at %.3gx the planned %.0f events/s, and have %d cores; the mock's share is in that, so the client alone has more",
		times(h.Times), h.CPUS/float64(h.Events)*1e6, h.SpeedTimes, h.PlannedPerS, h.Cores)
	if h.Verdict == ClientLimited {
		why, _, _ := strings.Cut(h.Reason, "; ") // without what to do
		say += ". It was late in the test all the same: " + why
	}
	return say
}

// Tight tells that a run would come near what the client can do.
func (h *Headroom) Tight() bool { return h.Times > 0 && h.Times < h.SpeedTimes }

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
