package driver

import (
	"testing"
	"time"
)

// TestWaiters: each kind returns at its time or when woken, not before.
func TestWaiters(t *testing.T) {
	for _, w := range []Waiter{NewWaiter(), NewTimerWaiter()} {
		start := time.Now()
		w.arm(2*time.Millisecond, false)
		w.wait()
		if d := time.Since(start); d < 2*time.Millisecond {
			t.Errorf("%s: woke after %v", w.name(), d)
		}
		w.arm(0, true)
		go w.wake()
		w.wait()
		w.arm(time.Hour, false)
		w.wake() // before the wait: must not be lost
		w.wait()
		w.close()
	}
}

func TestLatenessBuckets(t *testing.T) {
	for _, v := range []uint64{0, 1, 15, 16, 31, 32, 33, 1000, 1 << 20, 1<<40 + 12345, 1<<63 - 1} {
		i := latenessBucket(v)
		if up := latenessUpper(i); uint64(up) < v || float64(up) > float64(v)*(1+1.0/16) {
			t.Errorf("%d is in bucket %d, which ends at %d", v, i, up)
		}
		if i > 0 && uint64(latenessUpper(i-1)) >= v {
			t.Errorf("%d belongs to a bucket before %d", v, i)
		}
	}
	var l Delays
	for i := range 1000 {
		l.Add(time.Duration(i) * time.Microsecond)
	}
	if r := l.Lateness(); r.N != 1000 || r.MaxUS != 999 || r.P50US < 499 || r.P50US > 540 || r.P99US < 989 || r.P99US > 999 {
		t.Errorf("%+v", r)
	}
}
