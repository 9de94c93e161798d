package replay

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// beatNS is the time from one beat of a heartbeat to the next.
const beatNS = 1_000_000

// missed bounds how many beats a stall is counted as: one of a minute.
const missed = 60_000

// beat wakes every millisecond and hands on how late, ns, until ctx ends: a
// measure of hiccups that holds even when nothing is sent. A stall takes the
// place of the beats that fell into it, so each of them is handed on with what
// it would have waited; otherwise a stall of a second would be one late beat
// among a thousand, and the quantiles would not show it (HdrHistogram corrects
// for coordinated omission in the same way).
func beat(ctx context.Context, t Timer, w Waiter, late func(ns int64)) {
	for at := t.Now() + beatNS; ; {
		if w.Until(ctx, t, at) != nil {
			return
		}
		now := t.Now()
		for n := range min((now-at)/beatNS+1, missed) {
			late(now - at - n*beatNS)
		}
		if at += beatNS; at <= now {
			at = now + beatNS
		}
	}
}

// Heartbeat follows the hiccups of this process beside something short.
type Heartbeat struct {
	worst atomic.Int64
	stop  context.CancelFunc
	wg    sync.WaitGroup
}

// NewHeartbeat starts one; Stop ends it.
func NewHeartbeat() *Heartbeat {
	ctx, stop := context.WithCancel(context.Background())
	h := &Heartbeat{stop: stop}
	w := NewWaiter()
	h.wg.Go(func() {
		defer w.Close()
		beat(ctx, NewTimer(time.Now()), w, func(ns int64) { h.worst.Store(max(h.worst.Load(), ns)) })
	})
	return h
}

// Stop ends it and returns by how much the process was late at the worst.
func (h *Heartbeat) Stop() time.Duration {
	h.stop()
	h.wg.Wait()
	return time.Duration(h.worst.Load())
}
