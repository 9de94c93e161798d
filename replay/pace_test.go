package replay

import (
	"math"
	"math/rand/v2"
	"testing"
)

// loop are the spans of a level: every slot sends again when it has its answer,
// until the level ends; serve is the time that an answer takes, s.
func loop(slots int, last float64, serve func() float64) (out []Span) {
	for range slots {
		for at := 0.0; at < last; {
			end := at + serve()
			out = append(out, Span{From: int64(at * 1e9), To: int64(end * 1e9)})
			at = end
		}
	}
	return out
}

// Slots that each answer once in 1.5 s on average come to slots/1.5 a second,
// however short the level beside its answers; to the last answer it would be far
// less.
func TestPaceLeavesTheDrainOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var sum float64
	const runs = 200
	for range runs {
		s := PaceOf(loop(8, 8, func() float64 { return 0.2 + rng.ExpFloat64()*1.3 }), 8)
		if !s.Enough() {
			t.Fatalf("%+v", s)
		}
		sum += s.PerS
	}
	if mean := sum / runs; math.Abs(mean-8/1.5) > 0.15 {
		t.Errorf("%.3g answers/s, want %.3g", mean, 8/1.5)
	}
}

func TestPaceNeedsAnswers(t *testing.T) {
	for _, c := range []struct {
		slots  int
		last   float64
		enough bool
	}{{8, 1, false}, {8, 2.5, false}, {8, 8, true}, {1, 6, false}, {1, 13, true}, {16, 1.5, false}, {16, 2.5, true}} {
		s := PaceOf(loop(c.slots, c.last, func() float64 { return 1 }), c.slots)
		if s.Enough() != c.enough || math.Abs(s.PerS-float64(c.slots)) > 1e-9 {
			t.Errorf("%d slots for %g s: %+v", c.slots, c.last, s)
		}
	}
	if s := PaceOf(nil, 4); s.Enough() || s.PerS != 0 {
		t.Errorf("of nothing: %+v", s)
	}
}

// A level with too few answers does not end the ladder; two in a row that do not
// seem to grow do.
func TestFewAnswersEndNoLadder(t *testing.T) {
	points := []LoadPoint{{Point: 0, Concurrency: 8}, {Point: 1, Concurrency: 16}, {Point: 2, Concurrency: 32}}
	s := NewSaturation(points)
	for i, level := range []struct{ last, each float64 }{{10, 1}, {3, 2}, {3, 4}} { // 8 answers/s each
		for _, x := range loop(points[i].Concurrency, level.last, func() float64 { return level.each }) {
			r := Result{Point: int32(i), Phase: Measure, Sched: x.From, End: some(x.To)}
			s.Add(&r)
		}
	}
	if !s.Grows(0, 0.05) || !s.Grows(1, 0.05) || s.Grows(2, 0.05) {
		t.Errorf("grows: %v %v %v", s.Grows(0, 0.05), s.Grows(1, 0.05), s.Grows(2, 0.05))
	}
	if few := s.Few(); len(few) != 2 || few[0].Concurrency != 16 {
		t.Errorf("few: %+v", few)
	}
	if best, rate := s.Best(); best.Concurrency != 8 || math.Abs(rate-8) > 1e-9 {
		t.Errorf("best %+v at %g", best, rate)
	}
}
