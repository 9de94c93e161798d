package driver

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Delays is a histogram of delays that many goroutines add to without a lock.
// A bucket is at most 1/16 of its value wide.
type Delays struct {
	counts [latenessBuckets]atomic.Int64
	max    atomic.Int64
}

const (
	latenessSub     = 16 // buckets in each doubling
	latenessBuckets = 64 * latenessSub
)

// Add counts a delay; a negative one counts as none.
func (l *Delays) Add(d time.Duration) {
	v := max(int64(d), 0)
	l.counts[latenessBucket(uint64(v))].Add(1)
	for m := l.max.Load(); v > m && !l.max.CompareAndSwap(m, v); m = l.max.Load() {
	}
}

// Reset forgets what was added. What is added meanwhile may be lost.
func (l *Delays) Reset() {
	for i := range l.counts {
		l.counts[i].Store(0)
	}
	l.max.Store(0)
}

func latenessBucket(v uint64) int {
	if v < latenessSub {
		return int(v)
	}
	shift := bits.Len64(v) - 5 // leaves 16..31
	return (shift+1)*latenessSub + int(v>>shift) - latenessSub
}

// latenessUpper is the largest value of a bucket.
func latenessUpper(i int) int64 {
	if i < latenessSub {
		return int64(i)
	}
	shift := i/latenessSub - 1
	return int64(i%latenessSub+latenessSub+1)<<shift - 1
}

// Lateness is how late the mock itself was, microseconds. Quantiles are upper
// bounds, at most 1/16 above the truth.
type Lateness struct {
	N     int64   `json:"n"`
	P50US float64 `json:"p50_us"`
	P99US float64 `json:"p99_us"`
	MaxUS float64 `json:"max_us"`
}

// LatenessReport has both ends of the way of a token. All are measured from the
// instant that the law gives a token.
type LatenessReport struct {
	Wait  string   `json:"wait"`  // how instants are held: timerfd, timer
	Step  Lateness `json:"step"`  // until the engine handed it over
	Write Lateness `json:"write"` // until the kernel had its bytes
}

// Lateness sums up what was added.
func (l *Delays) Lateness() Lateness {
	var counts [latenessBuckets]int64
	var n int64
	for i := range l.counts {
		counts[i] = l.counts[i].Load()
		n += counts[i]
	}
	largest := l.max.Load()
	at := func(p float64) float64 {
		need, seen := int64(p*float64(n)), int64(0)
		for i, c := range counts {
			if seen += c; seen > need {
				return float64(min(latenessUpper(i), largest)) / 1e3
			}
		}
		return float64(largest) / 1e3
	}
	return Lateness{N: n, P50US: at(0.5), P99US: at(0.99), MaxUS: float64(largest) / 1e3}
}
