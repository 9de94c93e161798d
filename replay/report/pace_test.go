package report

import (
	"math"
	"testing"

	"reprise/replay"
)

// slotsOf are the results of a closed loop of answers of a second, for so long.
func slotsOf(slots int, last int64) (out []replay.Result) {
	for s := range int64(last) {
		for range slots {
			r := answered(float64(s)*1000, 0, 99, 100, 10)
			out = append(out, r)
		}
	}
	return out
}

// Goodput, answers and tokens per second are over one time, so that goodput is
// never above the answers; in a closed loop it leaves the drain out.
func TestRatesAreOverOneTime(t *testing.T) {
	run := testRun(slo("ttft", 95, 300))
	run.Mode = replay.ClosedLoop
	run.Shape = &replay.Shape{Points: []replay.LoadPoint{{Concurrency: 8}}}
	for _, c := range []struct {
		last int64
		want float64
	}{{20, 8}, {2, 8}} { // long, and too short: all of it, to the last answer
		s := build(t, Input{Run: run, Results: seq(slotsOf(8, c.last))}).Summaries[0]
		if math.Abs(*s.Load.DonePerS-c.want) > 1e-9 || (s.Load.SteadyS > 0) != (c.last == 20) {
			t.Errorf("%d s: %g answers/s, steady %g s", c.last, *s.Load.DonePerS, s.Load.SteadyS)
		}
		if math.Abs(*s.Goodput.PerS-*s.Load.DonePerS**s.Goodput.Share) > 1e-9 {
			t.Errorf("%d s: goodput %g of %g", c.last, *s.Goodput.PerS, *s.Load.DonePerS)
		}
	}
	run.Mode, run.Shape = replay.OpenLoop, nil
	s := build(t, Input{Run: run, Results: seq(slotsOf(8, 3))}).Summaries[0] // 24 answers, the last at 3 s
	if *s.Load.DonePerS != 8 || *s.Goodput.PerS != 8 || *s.Load.OfferedPerS != 11.5 {
		t.Errorf("%g answered, %g good, %g offered", *s.Load.DonePerS, *s.Goodput.PerS, *s.Load.OfferedPerS)
	}
}
