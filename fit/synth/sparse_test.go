package synth_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/fit"
	"reprise/fit/compare"
	"reprise/fit/synth"
	"reprise/trace"
)

// TestSparseSessions has conversations of a quiet service: turns lie closer than
// sessions, so that arrivals are made of turns. Hazards and gaps hold all the same.
func TestSparseSessions(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var rows []trace.Request
	at := 0.0
	for s := range int32(3000) {
		at += rng.ExpFloat64() * 25
		when, input := at, int32(200+rng.IntN(300))
		for turn := int32(0); ; turn++ {
			rows = append(rows, trace.Request{T: trace.Some(int64(when * 1e6)), Session: trace.Some(s), Turn: trace.Some(turn), Input: trace.Some(input), Output: trace.Some(50 + rng.Int32N(100)), N: 1})
			if rng.Float64() >= []float64{0.4, 0.5, 0.6, 0.6}[min(turn, 3)] {
				break
			}
			when += 8 + rng.ExpFloat64()*40
			input += 60 + rng.Int32N(200)
		}
	}
	slices.SortStableFunc(rows, func(a, b trace.Request) int { return int(a.T.V/1000 - b.T.V/1000) })
	src := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh, Time: trace.Time{Calendar: trace.CalendarNone}}}
	for i := range rows {
		rows[i].ID, rows[i].T.V = int64(i), rows[i].T.V-rows[0].T.V*int64(min(i, 1))
	}
	rows[0].T.V = 0
	src.Requests = rows
	sp, err := fit.Fit(src, fit.Options{})
	check(t, err)
	x, err := synth.Trace(sp, synth.Options{Seed: 1})
	check(t, err)
	r, err := compare.Traces(src, []*trace.Trace{x}, compare.Options{Limits: compare.Fidelity, Seed: 1})
	check(t, err)
	seen := 0
	for _, m := range r.Metrics {
		if m.Section == "sessions" {
			seen++
			t.Logf("%-28s %.4f %.4f off %.4f of %.4f", m.Name, m.A.V, m.B.V, m.Off.V, m.Limit.V)
			if m.Verdict == compare.Miss {
				t.Errorf("%s misses", m.Name)
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d metrics of sessions", seen)
	}
}
