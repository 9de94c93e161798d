package synth_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/fit"
	"reprise/fit/compare"
	"reprise/fit/synth"
	"reprise/trace"
	"reprise/trace/spec"
)

// quiet is a log of three days with a conversation every twelve minutes, turns
// 10 to 90 s apart: of what a turn is near to, nearly all is of its own session.
// Some questions are asked again, 5 s later and with the same history.
func quiet() *trace.Trace {
	rng := rand.New(rand.NewPCG(4, 4))
	var rows []trace.Request
	next := int32(30)
	more := func(b []int32, to int32) []int32 {
		b = slices.Clone(b)
		for int32(len(b)) < (to+15)/16 {
			b, next = append(b, next), next+1
		}
		return b
	}
	add := func(at float64, s, in, out int32, from []int32) []int32 {
		b := more(from, in)
		rows = append(rows, trace.Request{T: trace.Some(int64(at * 1e6)), Session: trace.Some(s), Input: trace.Some(in), Output: trace.Some(out), N: 1, Blocks: b})
		return b
	}
	root := make([]int32, 25)
	for i := range root {
		root[i] = int32(i)
	}
	for s := range int32(360) {
		at, in, before := rng.Float64()*3*86400, int32(420+rng.IntN(120)), root
		for range []int{1, 1, 2, 3, 5}[rng.IntN(5)] {
			out := 30 + rng.Int32N(120)
			b := add(at, s, in, out, before)
			if rng.Float64() < 0.3 {
				add(at+5, s, in+rng.Int32N(60), 50, before)
			}
			// The next prompt begins with this one and its answer.
			before = more(b[:in/16], (in+out)/16*16)
			in += out + 20 + rng.Int32N(120)
			at += 10 + 80*rng.Float64()
		}
	}
	slices.SortStableFunc(rows, func(a, b trace.Request) int { return int(a.T.V/1000 - b.T.V/1000) })
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh, Time: trace.Time{Calendar: trace.CalendarNone}}}
	zero := rows[0].T.V
	for i := range rows {
		rows[i].ID, rows[i].T.V = int64(i), rows[i].T.V-zero
	}
	x.Requests = rows
	return x
}

// TestQuietSessions holds gaps, turns, hits and the dispersion that sessions
// bring to the limits where arrivals are too rare to deal turns over them.
func TestQuietSessions(t *testing.T) {
	src := quiet()
	sp, err := fit.Fit(src, fit.Options{})
	check(t, err)
	if b := sp.Workload.Sessions.Branched; b == nil || b.Value < 0.15 {
		t.Errorf("branched: %+v", b)
	}
	var draws []*trace.Trace
	for seed := range uint64(5) {
		x, err := synth.Trace(sp, synth.Options{Seed: seed})
		check(t, err)
		chained(t, x)
		draws = append(draws, x)
	}
	r, err := compare.Traces(src, draws, compare.Options{Limits: compare.Fidelity, Seed: 1})
	check(t, err)
	judged := 0
	for _, m := range r.Metrics {
		if m.Section == "sessions" || m.Section == "prefix" || m.Name == "rate" || m.Name == "IDC at 60 s" {
			judged++
			t.Logf("%-40s %8.4f %8.4f off %.4f of %.4f  %v", m.Name, m.A.V, m.B.V, m.Off.V, m.Limit.V, m.Verdict)
			if m.Verdict == compare.Miss {
				t.Errorf("%s misses", m.Name)
			}
		}
	}
	if judged < 12 {
		t.Errorf("only %d metrics were judged", judged)
	}
}

// TestStartsHeldBack has a spec from which an aggregate bundle took the later bins
// of the starts: the trace is as long as the log and as busy all the same.
func TestStartsHeldBack(t *testing.T) {
	src := quiet()
	sp, err := fit.Fit(src, fit.Options{})
	check(t, err)
	starts := sp.Workload.Sessions.Starts
	starts.Rates.Counts = starts.Rates.Counts[:len(starts.Rates.Counts)/2]
	for _, rates := range []*spec.RateSeries{starts.Rates, nil} {
		starts.Rates = rates
		x, err := synth.Trace(sp, synth.Options{Seed: 1})
		check(t, err)
		chained(t, x)
		last, want := x.Requests[len(x.Requests)-1].T.V, src.Requests[len(src.Requests)-1].T.V
		if n := float64(len(x.Requests)) / float64(len(src.Requests)); n < 0.9 || n > 1.1 || float64(last) < 0.95*float64(want) {
			t.Errorf("%d requests until %d, the source has %d until %d", len(x.Requests), last, len(src.Requests), want)
		}
	}
}

// TestEndlessSessions has a spec whose sessions never end and take no time: it is
// refused, and not drawn until the machine is full.
func TestEndlessSessions(t *testing.T) {
	sp, err := fit.Fit(quiet(), fit.Options{})
	check(t, err)
	s := sp.Workload.Sessions
	s.Hazards = []spec.Hazard{{Provenance: s.Hazards[0].Provenance, Turn: 1, AndLater: true, Value: 1}}
	for i := range s.Between.Values {
		s.Between.Values[i] = 0
	}
	if _, err := synth.Trace(sp, synth.Options{Seed: 1}); err == nil {
		t.Error("drawn")
	}
}

// TestSpanIsDefault draws from a spec that has a rate and no series, as an
// aggregate bundle leaves it, a trace as long as the log was.
func TestSpanIsDefault(t *testing.T) {
	sp, err := fit.Fit(quiet(), fit.Options{})
	check(t, err)
	sp.Workload.Sessions = nil
	a := &sp.Workload.Arrivals
	a.Process, a.Rates, a.Split = spec.ProcessPoisson, nil, nil
	x, err := synth.Trace(sp, synth.Options{Seed: 1})
	check(t, err)
	if last := float64(x.Requests[len(x.Requests)-1].T.V) / 1e6; last < 0.9*float64(a.Span.Value) || last > float64(a.Span.Value) {
		t.Errorf("the last request is at %.0f s of %v", last, a.Span.Value)
	}
	a.Rate.Value = 1e-9
	_, err = synth.Trace(sp, synth.Options{Seed: 1, For: 90e9})
	if want := "no request falls into 1m30s at the rate of the spec: ask for a longer trace (--for)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}
