package report

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reprise/replay"
	"reprise/trace"
)

// stalling is a server that answers in 50 ms, but for 2 s from the fifth on
// answers nothing.
type stalling struct{}

func (stalling) Prepare(replay.Job) (replay.Call, error) { return stalling{}, nil }

func (stalling) Send(_ context.Context, f *replay.Flight) replay.Result {
	at := f.Now()
	f.Sent(at)
	done := at + 50e6
	if at >= 5e9 && at < 7e9 {
		done = 7e9 + 50e6
	}
	time.Sleep(time.Duration(done - at))
	end := f.Now()
	return replay.Result{WriteEnd: trace.Some(at), FirstContent: trace.Some(end), LastContent: trace.Some(end), End: trace.Some(end), OutUsage: trace.Some[int32](1), NReads: 1, NEvents: 1}
}

func stalledP99(t *testing.T, p *replay.Plan) (p99 float64, mode string) {
	t.Helper()
	var m Metrics
	var mu sync.Mutex
	stats, err := p.Run(t.Context(), stalling{}, replay.Options{Waiter: replay.SleepWaiter{}}, func(r replay.Result) error {
		mu.Lock()
		defer mu.Unlock()
		m.Add(r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s := m.Summary(&replay.Run{Status: replay.Complete, Mode: p.Mode(), Planned: stats.Planned, Verdict: stats.Verdict, Endpoint: replay.Endpoint{Streaming: true}})
	v := s.latency("ttft", "sched").percentile(99)
	if v == nil {
		t.Fatal("no p99")
	}
	return *v, s.Source.Mode
}

// A stall of 2 s is what every request that came in it waited, so the p99 of an
// open loop has it. A closed loop of a few has a few such requests, and its p99
// none: why it judges no limit.
func TestStallShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &trace.Trace{}
		for i := range 3000 {
			tr.Requests = append(tr.Requests, trace.Request{ID: int64(i)})
		}
		open, err := replay.NewArrivalPlan(tr, replay.Arrivals{Process: replay.Poisson, Rate: replay.Steady(100, 30*time.Second), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		// 30 s at 100/s: the 200 that came in the stall waited up to 2 s; p99 is the
		// 30th longest wait, about 1.7 s.
		if p99, _ := stalledP99(t, open); math.Abs(p99-1750) > 100 {
			t.Errorf("open loop: p99 TTFT is %g ms", p99)
		}
		closed, err := replay.NewClosedPlan(tr, []replay.Level{{Concurrency: 5, Last: 30 * time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		if p99, mode := stalledP99(t, closed); p99 != 50 || mode != replay.ClosedLoop {
			t.Errorf("closed loop: p99 TTFT is %g ms", p99)
		}
	})
}
