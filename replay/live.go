package replay

import (
	"slices"
	"sync"
	"time"
)

// Live follows a run while it goes on. Its methods may be called from several
// goroutines: Result for every result, Health once a second, Now at will.
type Live struct {
	mu     sync.Mutex
	at     Reading
	recent []recent // by end
	span   int64    // ns of the rolling latencies
}

// Reading is what a run has come to.
type Reading struct {
	Elapsed  time.Duration // on the run's clock
	Sent     int64         // requests whose bytes were handed over
	InFlight int64
	Done     int64 // answered
	Errors   int64 // every other class but unsent
	Unsent   int64
	LagP99   time.Duration // send lag of the last whole second
	// Rolling percentiles over the answers of the last seconds; N are behind
	// them, TPOT has fewer.
	N                                  int
	TTFTP50, TTFTP99, TPOTP50, TPOTP99 time.Duration
}

// recent is an answer of the last seconds, ns; tpot -1 where there is none.
type recent struct{ end, ttft, tpot int64 }

// NewLive returns a follower whose latencies roll over a span.
func NewLive(span time.Duration) *Live { return &Live{span: span.Nanoseconds()} }

// Result takes what became of a request.
func (l *Live) Result(r *Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r.Class {
	case Unsent:
		l.at.Unsent++
		return
	case OK:
		l.at.Done++
	default:
		l.at.Errors++
		return
	}
	if !r.FirstContent.OK || !r.End.OK {
		return
	}
	q := recent{end: r.End.V, ttft: r.FirstContent.V - r.Sched, tpot: -1}
	if r.LastContent.OK && r.OutUsage.V > 1 {
		q.tpot = (r.LastContent.V - r.FirstContent.V) / int64(r.OutUsage.V-1)
	}
	l.recent = append(l.recent, q)
}

// Health takes a health row.
func (l *Live) Health(h HealthRow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at.Elapsed = time.Duration(h.TNS)
	l.at.Sent += h.Sent
	l.at.InFlight = h.InFlight
	l.at.LagP99 = time.Duration(h.LagP99US) * time.Microsecond
	keep := l.recent[:0]
	for _, q := range l.recent {
		if q.end >= h.TNS-l.span {
			keep = append(keep, q)
		}
	}
	l.recent = keep
}

// Now reads it.
func (l *Live) Now() Reading {
	l.mu.Lock()
	r := l.at
	var ttft, tpot []int64
	for _, q := range l.recent {
		ttft = append(ttft, q.ttft)
		if q.tpot >= 0 {
			tpot = append(tpot, q.tpot)
		}
	}
	l.mu.Unlock()
	slices.Sort(ttft)
	slices.Sort(tpot)
	d := func(v []int64, p int) time.Duration { return time.Duration(quantile(v, p)) }
	r.N = len(ttft)
	r.TTFTP50, r.TTFTP99, r.TPOTP50, r.TPOTP99 = d(ttft, 50), d(ttft, 99), d(tpot, 50), d(tpot, 99)
	return r
}
