package replay

import (
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

func secondsTable(lo, hi spec.Num) *spec.Table {
	return &spec.Table{P: []spec.Num{0, 1}, Values: []spec.Num{lo, hi}}
}

// Think times of a drawn trace are the spec's: uniform ones of known mean, apart
// after tool calls and after answers, the same for the same seed.
func TestThinkTimesOfSpec(t *testing.T) {
	tr := talks(500, 6)
	for i := range tr.Requests {
		r := &tr.Requests[i]
		r.Dur = trace.Opt[int64]{}
		r.Finish = []trace.Finish{trace.FinishToolCalls, trace.FinishStop, trace.FinishUnknown}[r.Session.V%3]
	}
	s := &spec.Sessions{Think: secondsTable(100, 102), ThinkHuman: secondsTable(10, 30), ThinkTool: secondsTable(0, 2)}
	plan := func(seed uint64) *Plan {
		p, err := NewSessionPlan(tr, NewThinks(s, seed))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := plan(7)
	sums, n := [3]float64{}, [3]float64{}
	for i, b := range p.turns.before {
		if b < 0 {
			continue
		}
		k := p.Jobs[i].Request.Session.V % 3
		think := float64(p.turns.think[i]) / 1e9
		if lo, hi := [3]float64{0, 10, 100}[k], [3]float64{2, 30, 102}[k]; think < lo || think > hi {
			t.Fatalf("%g s after finish %d", think, k)
		}
		sums[k] += think
		n[k]++
	}
	for k, want := range []float64{1, 20, 101} {
		sd := []float64{2, 20, 2}[k] / math.Sqrt(12*n[k])
		if mean := sums[k] / n[k]; math.Abs(mean-want) > 5*sd {
			t.Errorf("mean %g s of kind %d, want %g ± %g", mean, k, want, sd)
		}
	}
	if again, other := plan(7), plan(8); !slices.Equal(again.turns.think, p.turns.think) || slices.Equal(other.turns.think, p.turns.think) {
		t.Error("the seed does not make the think times")
	}
	if p.Shape.Think != ThinkSpec || !strings.Contains(p.Shape.Sentence(Sessions), "500 requests at absolute instants (open loop), 2500 further turns a think time, drawn from the spec, after") || !strings.Contains(strings.Join(p.Notes, " "), "2500 of 2500 further turns have a think time that is drawn from the spec's") {
		t.Errorf("%+v %q", p.Shape, p.Notes)
	}
	if NewThinks(&spec.Sessions{}, 1) != nil || NewThinks(nil, 1) != nil {
		t.Error("a spec without think times has some")
	}
}

// What the log has is kept, and the rest is drawn; without a spec it is the
// median, or as long as from arrival to arrival.
func TestThinkSources(t *testing.T) {
	s := &spec.Sessions{Think: secondsTable(50, 50)}
	for _, c := range []struct {
		known  int // answers of 6 whose end the log has
		thinks *Thinks
		source string
		think  int64 // s, of the last turn
	}{{6, NewThinks(s, 1), ThinkRecorded, 3}, {2, NewThinks(s, 1), ThinkMixed, 50}, {2, nil, ThinkMixed, 3}, {0, NewThinks(s, 1), ThinkSpec, 50}, {0, nil, ThinkArrivals, 5}} {
		tr := talks(1, 6)
		for i := range tr.Requests {
			if i >= c.known {
				tr.Requests[i].Dur = trace.Opt[int64]{}
			}
		}
		p, err := NewSessionPlan(tr, c.thinks)
		if err != nil || p.Shape.Think != c.source || p.turns.think[5] != c.think*1e9 {
			t.Errorf("%+v: %v, %s, last %d", c, err, p.Shape.Think, p.turns.think[5])
		}
	}
}
