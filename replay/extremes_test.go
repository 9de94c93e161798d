package replay

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reprise/trace/spec"
)

// However low a rate, no request is planned before the instant that it means: it
// is refused where its ns are more than there are.
func TestRatesTooLow(t *testing.T) {
	for _, rate := range []float64{1e-9, 1e-10, 1e-12, 1e-300, math.SmallestNonzeroFloat64} {
		for _, process := range []string{Constant, Poisson, Gamma} {
			p, err := NewArrivalPlan(sharing(20, true), Arrivals{Process: process, CV: 2, Rate: Steady(rate, 0), Seed: 1})
			if err == nil || !strings.Contains(err.Error(), "years") {
				t.Errorf("%s at %g/s: %v", process, rate, err)
			}
			if err == nil {
				t.Errorf("the last instant is %d", p.Jobs[len(p.Jobs)-1].Sched)
			}
		}
	}
	p, err := NewArrivalPlan(sharing(20, true), Arrivals{Process: Constant, Rate: Steady(1e-8, 0)})
	if err != nil || p.Length() != time.Duration(19e17) {
		t.Errorf("60 years: %v", err)
	}
	if p, err = NewArrivalPlan(sharing(20, true), Arrivals{Process: Constant, Rate: Steady(1e-9, math.MaxInt64)}); err != nil || len(p.Jobs) != 10 {
		t.Errorf("for as long as there is: %v", err)
	}
}

// Steps share out any time evenly.
func TestStepsOfALongTime(t *testing.T) {
	for _, n := range []int{2, 3, 7, 30_000} {
		for _, last := range []time.Duration{time.Hour, 100 * time.Hour, math.MaxInt64} {
			r := Stepped(1, 2, last, n)
			if err := r.check(); err != nil || r.Length() != last {
				t.Errorf("%d steps of %v: %v, %v", n, last, r.Length(), err)
				continue
			}
			for i, s := range r {
				if even := float64(last) / float64(n); math.Abs(float64(s.Last)-even) > 1+even*1e-9 {
					t.Errorf("%d steps of %v: the %d. lasts %v", n, last, i, s.Last)
					break
				}
			}
		}
	}
}

// A trace, its answers and think times may state any number: nothing is sent
// before its instant for it.
func TestHostileInstants(t *testing.T) {
	far := sharing(3, false)
	far.Requests[2].T = some[int64](math.MaxInt64 / 100)
	if _, err := NewPlan(far); err == nil || !strings.Contains(err.Error(), "row 2 ") {
		t.Errorf("%v", err)
	}
	for _, dur := range []int64{math.MinInt64, -1, math.MaxInt64 / 1000, math.MaxInt64/1000 + 1, math.MaxInt64 / 500, math.MaxInt64} {
		tr := sharing(2, false)
		for i := range tr.Requests {
			tr.Requests[i].Session, tr.Requests[i].Turn = some[int32](0), some(int32(i))
		}
		tr.Requests[0].Dur = some(dur)
		p, err := NewSessionPlan(tr, nil)
		if err != nil {
			t.Fatal(err)
		}
		if th := p.turns.think[1]; th < 0 || th > 1e9 {
			t.Errorf("after an answer of %d µs the think time is %d ns", dur, th)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		tr := sharing(2, false)
		for i := range tr.Requests {
			tr.Requests[i].Session, tr.Requests[i].Turn = some[int32](0), some(int32(i))
		}
		th := NewThinks(&spec.Sessions{Think: &spec.Table{P: []spec.Num{0, 1}, Values: []spec.Num{1e300, 1e300}}}, 1)
		p, err := NewSessionPlan(tr, th)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.turns.think[1]; got < 1e18 {
			t.Errorf("a think time of 1e300 s is %d ns", got)
		}
	})
}
