package replay

import (
	"testing"
	"time"
)

// Live figures: counts since the beginning, latencies of the last seconds.
func TestLive(t *testing.T) {
	l := NewLive(10 * time.Second)
	for i := range int64(100) { // one answer a second, TTFT i+1 ms, TPOT 20 ms
		sched := i * 1e9
		first := sched + (i+1)*1e6
		l.Result(&Result{Class: OK, Sched: sched, FirstContent: some(first), LastContent: some(first + 9*20e6), End: some(first + 9*20e6), OutUsage: some[int32](10)})
		l.Health(HealthRow{TNS: (i + 1) * 1e9, Sent: 1, InFlight: 3, LagP99US: 250})
	}
	l.Result(&Result{Class: HTTP429})
	l.Result(&Result{Class: Unsent})
	r := l.Now()
	if r.Sent != 100 || r.Done != 100 || r.Errors != 1 || r.Unsent != 1 || r.InFlight != 3 || r.Elapsed != 100*time.Second || r.LagP99 != 250*time.Microsecond {
		t.Errorf("%+v", r)
	}
	// answers of seconds 90 to 99: TTFT 91 to 100 ms
	if r.N != 10 || r.TTFTP50 != 95*time.Millisecond || r.TTFTP99 != 100*time.Millisecond || r.TPOTP50 != 20*time.Millisecond || r.TPOTP99 != 20*time.Millisecond {
		t.Errorf("%+v", r)
	}
}
