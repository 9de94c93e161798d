package synth_test

import (
	"math"
	"testing"
	"time"

	"reprise/fit"
	"reprise/fit/compare"
	"reprise/fit/synth"
	"reprise/trace"
	"reprise/trace/spec"
)

// named writes into a trace the sessions that its prefixes tell.
func named(src *trace.Trace) *trace.Trace {
	l := fit.Link(src)
	out := &trace.Trace{Header: src.Header}
	for i, r := range src.Requests {
		r.Session, r.Turn = trace.Some(l.Session[i]), trace.Some(l.Turn[i])
		if p := l.Parent[i]; p >= 0 {
			r.Parent = trace.Some(int64(p))
		}
		out.Requests = append(out.Requests, r)
	}
	return out
}

// TestSessions fits the Mooncake conversations with the sessions that their
// prefixes tell, draws them anew, and holds hazards, gaps, lengths and prefixes
// to the limits of fidelity.
func TestSessions(t *testing.T) {
	src := named(public(t, "mooncake-conv"))
	sp, err := fit.Fit(src, fit.Options{})
	check(t, err)
	raw, err := spec.Encode(sp)
	check(t, err)
	sp, err = spec.Decode(raw)
	check(t, err)
	var draws []*trace.Trace
	for seed := range uint64(3) {
		x, err := synth.Trace(sp, synth.Options{Seed: seed})
		check(t, err)
		draws = append(draws, x)
	}
	r, err := compare.Traces(src, draws, compare.Options{Limits: compare.Fidelity, Seed: 1})
	check(t, err)
	judged := 0
	for _, m := range r.Metrics {
		if m.Section == "sessions" || m.Section == "prefix" || m.Section == "lengths" {
			t.Logf("%-40s %8.4f %8.4f  off %.4f of %.4f noise %.4f  %v", m.Name, m.A.V, m.B.V, m.Off.V, m.Limit.V, m.Noise.V, m.Verdict)
			if m.Verdict == compare.Miss {
				t.Errorf("%s misses: %.4f, allowed %.4f", m.Name, m.Off.V, m.Limit.V)
			}
			judged++
		}
	}
	if judged < 25 {
		t.Errorf("only %d metrics were judged", judged)
	}
	drift, err := compare.Spec(sp, draws[1], compare.Options{Limits: compare.Drift, Seed: 1})
	check(t, err)
	told := map[string]bool{}
	for _, m := range drift.Metrics {
		told[m.Name] = m.Verdict == compare.Pass
	}
	for _, name := range []string{"continues after turn 3", "time between turns KS", "hit rate of tokens at 10 M", "turns a session, mean"} {
		if !told[name] {
			t.Errorf("the spec against a trace of it: %s does not pass", name)
		}
	}
	chained(t, draws[0])
	half, err := synth.Trace(sp, synth.Options{Seed: 3, Scale: 0.5, For: 20 * time.Minute})
	check(t, err)
	chained(t, half)
	again, err := fit.Fit(draws[0], fit.Options{})
	check(t, err)
	a, b := sp.Workload.Sessions, again.Workload.Sessions
	t.Logf("starts: IDC %+v and %+v", a.Starts.IDC, b.Starts.IDC)
	t.Logf("growth %v\n%v", a.Growth.Values, b.Growth.Values)
	for _, v := range [][2]float64{{float64(a.Count.Value), float64(b.Count.Value)}, {float64(a.Requests.Value), float64(b.Requests.Value)}} {
		t.Logf("%v", v)
		// The log begins with sessions under way, which go on longer than new ones
		// and count as new; a synthetic trace begins with none.
		if math.Abs(v[1]/v[0]-1) > 0.05 {
			t.Errorf("%v of the source became %v", v[0], v[1])
		}
	}
}

// chained holds every turn to what a turn is: it comes after the one that it
// continues, is the next of its session, and begins with blocks of it.
func chained(t *testing.T, x *trace.Trace) {
	t.Helper()
	turns := map[int32]int32{}
	later, sharing := 0, 0
	for i := range x.Requests {
		r := &x.Requests[i]
		if r.Turn.V != turns[r.Session.V] {
			t.Fatalf("request %d is turn %d, its session had %d", i, r.Turn.V, turns[r.Session.V])
		}
		turns[r.Session.V]++
		if r.Parent.OK != (r.Turn.V > 0) {
			t.Fatalf("request %d: turn %d, parent %v", i, r.Turn.V, r.Parent)
		}
		if !r.Parent.OK {
			continue
		}
		p := &x.Requests[r.Parent.V]
		later++
		if p.ID >= r.ID || p.Session != r.Session || p.T.V > r.T.V {
			t.Fatalf("request %d continues %+v", i, p)
		}
		if len(p.Blocks) > 1 && len(r.Blocks) > 1 && p.Blocks[1] == r.Blocks[1] {
			sharing++
		}
	}
	if later == 0 || sharing < later*9/10 {
		t.Errorf("%d turns, %d begin with the prompt before", later, sharing)
	}
}
