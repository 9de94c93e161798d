package replay

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// places is a server with so many places and a service time of a second.
type places struct{ free chan struct{} }

func newPlaces(n int) *places { return &places{make(chan struct{}, n)} }

func (p *places) Prepare(Job) (Call, error) { return p, nil }

func (p *places) Send(ctx context.Context, f *Flight) Result {
	r := Result{WriteEnd: some(f.Now())}
	p.free <- struct{}{}
	time.Sleep(time.Second)
	<-p.free
	r.End = some(f.Now())
	return r
}

// A server with 8 places that take a second each saturates at 8 answers a
// second; the levels end one after it stops growing.
func TestSaturation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var levels []Level
		for n := 1; n <= 128; n *= 2 {
			levels = append(levels, Level{Concurrency: n, Last: time.Minute})
		}
		p, err := NewClosedPlan(untimed(10), levels)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSaturation(p.Shape.Points)
		var mu sync.Mutex
		ran := 0
		opts := Options{Waiter: SleepWaiter{}, Level: func(i int) bool {
			time.Sleep(time.Millisecond) // the last results
			mu.Lock()
			defer mu.Unlock()
			if i > 0 && !s.Grows(int32(i-1), 0.05) {
				return false
			}
			ran++
			return true
		}}
		stats, err := p.Run(t.Context(), newPlaces(8), opts, func(r Result) error {
			mu.Lock()
			defer mu.Unlock()
			s.Add(&r)
			return nil
		})
		if err != nil || ran != 5 { // 1 2 4 8, and 16, which gains nothing
			t.Fatalf("%d levels, %v", ran, err)
		}
		sum(t, stats)
		best, rate := s.Best()
		if best.Concurrency != 8 || math.Abs(rate-8) > 0.01 || math.Abs(s.Rate(0)-1) > 0.01 {
			t.Errorf("best at %+v with %g, %g at 1", best, rate, s.Rate(0))
		}
	})
}
