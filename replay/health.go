package replay

import (
	"context"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// meter gathers what the client does, and once a second reports it.
type meter struct {
	stamper Stamper // of what arrives
	before  SpanCount
	asleep  int64 // before the clock started, ns; -1 where unknown
	flying  atomic.Int64
	on      bool
	hiccups Spans // lateness of the heartbeat, over the run
	hits    *sentHits
	worst   int64 // of them; mu guards it and what follows
	mu      sync.Mutex
	lacking int64   // requests that this machine could not send
	lack    string  // what the first of them lacked
	lags    []int64 // ns, of the running second
	beats   []int64 // ns late, of the running second
}

// begin forgets what was read before the clock started.
func (m *meter) begin() { m.before, m.asleep = m.stamper.Delays(), asleep() }

// slept is how long the machine was asleep since the clock started, ns.
func (m *meter) slept() int64 {
	if now := asleep(); now >= 0 && m.asleep >= 0 {
		return now - m.asleep
	}
	return 0
}

// signs are what the run has shown of the client, besides its send lag.
func (m *meter) signs() Signs {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Signs{Delays: m.stamper.Delays().Since(m.before), Beats: m.hiccups.Count(), Worst: m.worst, Slept: m.slept()}
}

// sent takes the send lag of one request.
func (m *meter) sent(lag int64) {
	if !m.on {
		return
	}
	m.mu.Lock()
	m.lags = append(m.lags, lag)
	m.mu.Unlock()
}

// lacks counts a request that this machine could not send.
func (m *meter) lacks(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lacking++; m.lack == "" {
		m.lack = what
	}
}

// start samples once a second into report, and into keep if there is one, until
// the returned function is called, which reports the last part of a second too.
func (m *meter) start(t Timer, beat Waiter, report func(HealthRow), keep func(account)) (stop func()) {
	if report == nil {
		return func() {}
	}
	m.on = true
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { m.heartbeat(ctx, t, beat) })
	wg.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		last, seen, beats := readMachine(t), m.before, SpanCount{}
		for done := false; !done; {
			select {
			case <-tick.C:
			case <-ctx.Done():
				done = true
			}
			now, delays := readMachine(t), m.stamper.Delays()
			report(m.row(last, now, delays.Since(seen)))
			if keep != nil {
				all := m.hiccups.Count()
				keep(m.account(delays.Since(seen), all.Since(beats)))
				beats = all
			}
			last, seen = now, delays
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// account is what the client knows of itself, of the time since the last one.
func (m *meter) account(delays, beats SpanCount) account {
	m.mu.Lock()
	defer m.mu.Unlock()
	return account{delays: delays, beats: beats, worst: m.worst, lacking: m.lacking, lack: m.lack, slept: m.slept(), sent: m.hits.soFar()}
}

func (m *meter) heartbeat(ctx context.Context, t Timer, w Waiter) {
	if w == nil {
		w = NewWaiter()
		defer w.Close()
	}
	beat(ctx, t, w, func(late int64) {
		m.hiccups.Add(late)
		m.mu.Lock()
		m.beats = append(m.beats, late)
		m.worst = max(m.worst, late)
		m.mu.Unlock()
	})
}

// row is the health of the time between two readings of the machine.
func (m *meter) row(last, now machine, delays SpanCount) HealthRow {
	m.mu.Lock()
	lags, beats := m.lags, m.beats
	m.lags, m.beats = nil, nil
	m.mu.Unlock()
	slices.Sort(lags)
	slices.Sort(beats)
	r := HealthRow{TNS: now.at, Sent: int64(len(lags)), InFlight: m.flying.Load(), KernelP99US: -1,
		LagP50US: quantile(lags, 50) / 1000, LagP99US: quantile(lags, 99) / 1000, LagMaxUS: quantile(lags, 100) / 1000,
		HeartP99US: quantile(beats, 99) / 1000, HeartMaxUS: quantile(beats, 100) / 1000, GCCycles: now.gc - last.gc,
		CPU: -1, Throttled: -1, Steal: -1, Files: now.files, FileLimit: now.fileLimit, Ports: now.ports, PortLimit: now.portLimit}
	if len(beats) == 0 {
		r.HeartP99US, r.HeartMaxUS = -1, -1
	}
	if delays.N() > 0 {
		r.KernelP99US = delays.Quantile(0.99) / 1000
	}
	if span := now.at - last.at; span > 0 && now.cpu >= 0 {
		r.CPU = float64(now.cpu-last.cpu) / float64(span)
	}
	if now.throttled >= 0 && last.throttled >= 0 {
		r.Throttled = now.throttled - last.throttled
	}
	if all := now.ticks - last.ticks; now.steal >= 0 && last.steal >= 0 {
		r.Steal = 0
		if all > 0 {
			r.Steal = float64(now.steal-last.steal) / float64(all)
		}
	}
	return r
}

// machine is a reading of the process and the machine; -1 where unknown.
type machine struct {
	at               int64
	cpu              int64 // ns of CPU used by this process
	gc               int64
	throttled        int64 // cgroup periods
	steal, ticks     int64 // of all CPUs
	files, fileLimit int64 // descriptors of this process
	ports, portLimit int64 // TCP sockets of the machine, and the ports there are for connections
}

func readMachine(t Timer) machine {
	gc := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(gc)
	m := machine{at: t.Now(), cpu: cpuTime(), throttled: throttled(), gc: int64(gc[0].Value.Uint64())}
	m.steal, m.ticks = steal()
	m.files, m.fileLimit = openFiles(), fileLimit()
	m.ports, m.portLimit = tcpSockets(), portLimit()
	return m
}
