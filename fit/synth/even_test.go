package synth_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/fit"
	"reprise/fit/compare"
	"reprise/fit/synth"
	"reprise/trace"
)

// chats is a log of an hour whose sessions the log names: starts at random, each
// turn after a lognormal pause, a branch from an earlier turn now and then.
func chats(seed uint64, sessions int, branches float64) *trace.Trace {
	rng := rand.New(rand.NewPCG(seed, 30))
	const span = int64(3600e6)
	type turn struct {
		at      int64
		session int32
		id, of  int
		in, out int32
	}
	var all []turn
	for s := range sessions {
		from := len(all)
		at, of, history := rng.Int64N(span), -1, int32(0)
		for at < span {
			in, out := history+50+rng.Int32N(350), 20+rng.Int32N(280)
			all = append(all, turn{at, int32(s), len(all), of, in, out})
			if rng.Float64() > 0.6 {
				break
			}
			last := &all[len(all)-1]
			if rng.Float64() < branches {
				last = &all[from+rng.IntN(len(all)-from)]
			}
			history, of = last.in+last.out, last.id
			at = last.at + int64(22e6*math.Exp(1.2*rng.NormFloat64()))
		}
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b turn) int { return int(a.at - b.at) })
	row := map[int]int64{}
	x := &trace.Trace{Header: trace.Header{BlockTokens: 16, Time: trace.Time{Calendar: trace.CalendarNone}}}
	for i, u := range order {
		row[u.id] = int64(i)
		r := trace.Request{ID: int64(i), T: trace.Some(u.at), N: 1, Session: trace.Some(u.session), Input: trace.Some(u.in), Output: trace.Some(u.out)}
		if u.of >= 0 {
			r.Parent = trace.Some(row[u.of])
		}
		x.Requests = append(x.Requests, r)
	}
	return x
}

// TestTurnsLeaveArrivals gives arrivals to turns without evening them out: their
// gaps, and those between turns, stay as they were, with branches too.
func TestTurnsLeaveArrivals(t *testing.T) {
	for _, branches := range []float64{0, 0.3} {
		x := chats(7, 1200, branches)
		sp, err := fit.Fit(x, fit.Options{})
		check(t, err)
		var draws []*trace.Trace
		for seed := range uint64(5) {
			d, err := synth.Trace(sp, synth.Options{Seed: seed})
			check(t, err)
			draws = append(draws, d)
		}
		r, err := compare.Traces(x, draws, compare.Options{Limits: compare.Fidelity, Seed: 1})
		check(t, err)
		judged := 0
		for _, m := range r.Metrics {
			if m.Name != "local CV" && m.Name != "gaps KS" && m.Name != "time between turns KS" {
				continue
			}
			judged++
			t.Logf("branches %.1f: %-22s %.4f %.4f off %.4f noise %.4f", branches, m.Name, m.A.V, m.B.V, m.Off.V, m.Noise.V)
			if m.Off.V > m.Limit.V && m.Off.V > m.Noise.V {
				t.Errorf("%s misses: %.4f, limit %.4f, noise %.4f", m.Name, m.Off.V, m.Limit.V, m.Noise.V)
			}
		}
		if judged != 3 {
			t.Errorf("%d of 3 metrics", judged)
		}
	}
}
